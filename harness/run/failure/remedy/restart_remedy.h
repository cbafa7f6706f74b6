// Changes of a scenario after which its run restarts, or no longer has to.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Advice to limit the EndlessFaults of a run.
struct EndlessFaultsLimit {
  // The change of the faults, and the expectation to change with them; "" if
  // there are no such faults.
  std::string change = {};
  std::string ends = {};  // "it ends"; of several faults, "one of them ends"
};
EndlessFaultsLimit LimitEndlessFaults(const Outline& outline);

// Returns the change after which the launcher does not give up: it limits the
// EndlessFaults, or permits one more restart. Returns "" if no launcher gave
// up, or if no change is known. If the scenario does not permit that restart,
// the text also names the expectation to raise and, as an alternative, the
// change after which the restart is not needed.
std::string RestartRemedy(const Outline& outline, const Verdict& verdict);

// Returns the change of the scenario after which its job is queued again, or no
// longer is; "" if the run has nothing to do with requeues.
std::string RequeueRemedy(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
