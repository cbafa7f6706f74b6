// Changes of a scenario after which its run meets the expectations.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_REMEDIES_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_REMEDIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the change after which the run has no more than `permitted`
// interruptions: "remove fault b, which ended attempt 2", or the change of a
// delay or of the limit that the delay exceeded. Returns "" if the record shows
// no fault that caused an interruption after the first `permitted` ones.
std::string FewerInterruptions(const Outline& outline, uint64_t permitted);

// Returns changes of delaying faults that remove the last interruption that
// such faults caused. If no interruption is left, but the scenario expects a
// restart, also names the outcome to set. Returns "" if no such fault caused an
// interruption.
std::string ShorterDelays(const Outline& outline);

// Returns "; then run the scenario again, as recomputed_steps may still be
// unmet" for the expectations that the advice before it may not meet; "" if
// there are none.
std::string ThenRunAgain(std::vector<std::string_view> unmet);

// Returns the change for the unmet expectations whose remedies are known, such
// as "set the step of fault c (6) to a value from 9 to 11, so that the save of
// step 8 comes before it"; "" if none is. If several changes may be needed,
// returns the first, followed by ThenRunAgain with the other expectations.
std::string RemedyForUnmet(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_REMEDIES_H_
