#include "harness/run/executor/launch_sequence.h"

#include "engine/worker_exit_code.h"
#include "harness/run/executor/run_log.h"

namespace gauntlet {

bool LaunchSequence::EndsLaunch(const LauncherRun& run) const {
  if (IsExit(run.exit_code, {WorkerExit::kDone})) return true;
  if (IsExit(run.exit_code, {WorkerExit::kStopped})) {
    return run.result && run.result->steps > 0;
  }
  // A launch with a changed job must be refused, and the refusal ends the
  // launch. A launch with the case's own job must never be refused.
  return other_job() && IsExit(run.exit_code, {WorkerExit::kOtherJob});
}

bool LaunchSequence::StartNextLaunch(const LauncherRun& run, LauncherEnd end) {
  const bool exited = end == LauncherEnd::kExited;
  if (exited && planned_ + 1 < plan_.launches.size() && EndsLaunch(run)) {
    ++planned_;
    return true;
  }
  if (exited && !IsStartedAgain(run.exit_code)) return false;
  return ++requeues_ <= plan_.max_requeues;
}

}  // namespace gauntlet
