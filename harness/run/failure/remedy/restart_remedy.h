// Changes of a scenario after which its run restarts, or no longer has to.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Returns the change that limits the faults which ended each of the last
// attempts, with the expectations that then change; "" if there are none.
std::string EndlessFaultRemedy(const Outline& outline);

// Returns the change that lets a launcher restart that gave up; "" if none did,
// or if none is known. If the scenario expects fewer restarts, the text also
// has that expectation, and the fault without which they are enough.
std::string RestartRemedy(const Outline& outline, const Verdict& verdict);

// Returns the change of the scenario after which its job is queued again, or no
// longer is; "" if the run has nothing to do with requeues.
std::string RequeueRemedy(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
