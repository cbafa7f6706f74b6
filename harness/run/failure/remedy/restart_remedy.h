// Changes of a scenario after which its run restarts, or no longer has to.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_

#include <string>

#include "harness/oracle/history/outline.h"
#include "harness/record/verdict.h"

namespace gauntlet {

struct FaultsRemedy {
  // The change of the faults, and the expectation to change with them.
  std::string change = {};
  // Subject and verb of the reason: "it ends", or "one of them ends" if there
  // are several faults. "each attempt" or "each start" follows.
  std::string clause = {};
};

// Returns the change that limits the EndlessFaults of a run; both texts are ""
// if there are no such faults.
FaultsRemedy EndlessFaultsRemedy(const Outline& outline);

// Returns the change after which the launcher does not give up: it limits the
// EndlessFaults and permits the restarts that the run needs even then, or
// permits one more restart. Returns "" if no launcher gave up, or if no change
// is known. If the scenario does not permit that restart, the text also names
// the expectation to raise and, as an alternative, the change after which the
// restart is not needed.
std::string RestartRemedy(const Outline& outline, const Verdict& verdict);

// If the scenario expects the job to recover, returns the change after which
// the job starts again after its stop, or after the kill of its launcher. If
// the scenario expects a clean stop, returns the change after which the job
// does not start again; the text says if the run then has another resume than
// the scenario expects, or none. Returns "" for other runs, and if no change is
// known.
std::string RequeueRemedy(const Outline& outline, const Verdict& verdict);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_REMEDY_RESTART_REMEDY_H_
