// Order of launches in either world: after a launch has ended, the job is
// started again, as a job queue or a person would do it.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCH_SEQUENCE_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCH_SEQUENCE_H_

#include <cstddef>

#include "engine/train/options.h"
#include "harness/record/record.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

enum class LauncherEnd : uint8_t {
  kExited,
  kKilled,  // by a signal, or with its machine
};

class LaunchSequence {
 public:
  // The plan must outlive this object.
  explicit LaunchSequence(const RunPlan& plan) : plan_(plan) {}

  // Returns the index of the current launch among the planned ones.
  size_t planned() const { return planned_; }
  // Training options of the launch's workers.
  const TrainOptions& options() const {
    return plan_.launches.empty() ? plan_.train
                                  : plan_.launches[planned_].train;
  }
  bool other_job() const {
    return !plan_.launches.empty() && plan_.launches[planned_].other_job;
  }

  // Returns true iff the launcher must start again after `run`, which ended as
  // `end` states. If `run` finished, stopped with a result of at least one
  // step, or was refused because of its changed job, selects the next planned
  // launch, if there is one. In all other cases, selects the same launch again
  // if its launcher was killed or exited with kLostWorker (75) or kStopped
  // (143). Permits at most max_requeues of these repetitions in total.
  bool StartNextLaunch(const LauncherRun& run, LauncherEnd end);

 private:
  bool EndsLaunch(const LauncherRun& run) const;

  const RunPlan& plan_;
  size_t planned_ = 0;
  int requeues_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCH_SEQUENCE_H_
