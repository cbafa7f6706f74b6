// Order of launches, in either world: a job is started again as a queue or a
// person would.
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
  // The plan must outlive this.
  explicit LaunchSequence(const RunPlan& plan) : plan_(plan) {}

  // Index of the launch among the planned ones.
  size_t planned() const { return planned_; }
  // Training options of the launch's workers.
  const TrainOptions& options() const {
    return plan_.launches.empty() ? plan_.train
                                  : plan_.launches[planned_].train;
  }
  bool other_job() const {
    return !plan_.launches.empty() && plan_.launches[planned_].other_job;
  }

  // Returns true iff the launcher is started again after such an end. The next
  // planned launch follows one that is done, one that stopped and so left a
  // checkpoint, or a changed job that was refused. A launch that lost a worker,
  // was killed, or had no step yet is repeated, max_requeues times in total.
  bool Next(const LauncherRun& run, LauncherEnd end);

 private:
  bool EndsLaunch(const LauncherRun& run) const;

  const RunPlan& plan_;
  size_t planned_ = 0;
  int requeues_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_LAUNCH_SEQUENCE_H_
