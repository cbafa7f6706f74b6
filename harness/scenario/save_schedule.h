// When a case saves by its trigger, as far as it is known before the run.
#ifndef GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
#define GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_

#include <cstdint>
#include <optional>

#include "harness/scenario/scenario.h"

namespace gauntlet {

// Steps of the whole run; nullopt: not known before the data is read.
std::optional<uint64_t> TotalSteps(const Case& one);

// The most saves that an undisturbed run makes, that of its end included;
// nullopt: not known, or a matter of time.
std::optional<uint64_t> ScheduledSaves(const Case& one);

// The most steps from one save of the trigger to the next, or from the start to
// the first: more than the trigger says where a save waits for the end of an
// execution of several steps. 0: saves are not bound to steps.
uint64_t SaveIntervalSteps(const Case& one);

// Steps next to a given one after which an undisturbed run saves.
struct NearestSaves {
  std::optional<uint64_t> at_or_before;
  std::optional<uint64_t> after;
};

// nullopt: the steps are not known, a matter of time, or there are several
// launches, which end where they are told to.
std::optional<NearestSaves> SavesNextTo(const Case& one, uint64_t step);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_SAVE_SCHEDULE_H_
