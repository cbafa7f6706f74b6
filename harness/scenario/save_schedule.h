// Predicts after which steps a case saves, as far as this is known before the
// run.
#ifndef GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
#define GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the number of steps of the whole run; nullopt if it depends on data
// that are not read yet.
std::optional<uint64_t> TotalSteps(const Case& one);

// Returns the maximum number of saves in an undisturbed run, with the save at
// its end; nullopt if it depends on timing or on data that are not read yet.
std::optional<uint64_t> ScheduledSaves(const Case& one);

// Returns the maximum number of steps between two saves that the trigger
// causes, and between the start and the first of them. This is more than the
// number in the trigger if a save has to wait for the end of an execution of
// several steps. 0: saves do not depend on steps.
uint64_t SaveIntervalSteps(const Case& one);

// The nearest steps after which an undisturbed run saves: one up to a given
// step, one after it. nullopt: there is none.
struct NearestSaves {
  std::optional<uint64_t> at_or_before;
  std::optional<uint64_t> after;
};

// Returns the saves nearest to `step`. Returns nullopt if the saves depend on
// timing or on data that are not read yet, or if the case has several launches,
// which may end at different steps.
std::optional<NearestSaves> SavesNextTo(const Case& one, uint64_t step);

// Returns "the nearest saves are at steps 5 and 10".
std::string NearestSavesText(const NearestSaves& nearest);

// Returns "step: 5, or step: 10"; "" if there is no save.
std::string NearestSavesHint(const NearestSaves& nearest);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
