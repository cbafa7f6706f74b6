// Predicts when a case saves by its trigger, as far as possible before the run.
#ifndef GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
#define GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "harness/scenario/scenario.h"

namespace gauntlet {

// Returns the steps of the whole run; nullopt: not known before the data is
// read.
std::optional<uint64_t> TotalSteps(const Case& one);

// Returns the maximum number of saves of an undisturbed run, including that at
// its end; nullopt: not known, or dependent on timing.
std::optional<uint64_t> ScheduledSaves(const Case& one);

// Returns the maximum number of steps between two saves of the trigger, or from
// the start to the first. The number exceeds the trigger's if a save waits for
// the end of an execution of several steps. 0: saves are not tied to steps.
uint64_t SaveIntervalSteps(const Case& one);

// Steps next to a given one after which an undisturbed run saves; nullopt:
// none.
struct NearestSaves {
  std::optional<uint64_t> at_or_before;
  std::optional<uint64_t> after;
};

// Returns nullopt if the saves are not known, depend on timing, or belong to
// several launches, whose ends differ.
std::optional<NearestSaves> SavesNextTo(const Case& one, uint64_t step);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
