// Reference runs: one worker, one thread, no checkpoints, no faults. Their
// states are the reference trajectory that records are compared with.
#ifndef GAUNTLET_HARNESS_RUN_REFERENCE_H_
#define GAUNTLET_HARNESS_RUN_REFERENCE_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/world/clock.h"
#include "harness/record/golden.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

// Returns the plan of the reference run for `plan`. It has the same job and the
// same limits of epochs and steps, but one worker and no faults. It uses the
// scalar path if the job is small enough.
RunPlan ReferencePlanOf(const RunPlan& plan, const DataSplit& data);

// Minimum time limit of a reference run, in real time. A longer limit of the
// plan applies instead.
inline constexpr Duration kLeastReferenceLimit = std::chrono::minutes(5);

// Makes each reference run once. Any thread may use it.
class References {
 public:
  // Keeps the trajectories of reference runs as files in `cache_directory`, and
  // creates this directory if it is missing; empty: keeps them in memory only.
  // `build` identifies this build of the program: a file of another build is
  // ignored and replaced, and so is a file that was changed. `interrupted` is
  // used for plans without an `interrupted` of their own.
  References(std::string cache_directory, std::string build,
             std::function<bool()> interrupted = {},
             Duration least_limit = kLeastReferenceLimit);

  // Returns the data of a job. Loads them only the first time.
  Result<std::shared_ptr<const DataSplit>> DataOf(const DataSpec& spec);

  // Returns the trajectory of the reference run for `plan` (ReferencePlanOf).
  // kUnavailable: `interrupted` has returned true. kDeadlineExceeded: the run
  // takes longer, in real time, than the plan's total limit and than
  // `least_limit`.
  Result<std::shared_ptr<const GoldenTrajectory>> GoldenFor(
      const RunPlan& plan);

  const std::function<bool()>& interrupted() const { return interrupted_; }

 private:
  Result<GoldenTrajectory> Make(const RunPlan& plan, const DataSplit& data,
                                Duration limit);
  std::string CacheFile(const std::string& key) const;

  std::string cache_directory_;
  std::string build_;
  std::function<bool()> interrupted_;
  Duration least_limit_;
  std::mutex mutex_;  // held while a run is made, so others wait for it
  std::map<std::string, std::shared_ptr<const DataSplit>> data_;  // by spec
  std::map<std::string, std::shared_ptr<const GoldenTrajectory>> golden_;
  // Longest limit that a reference run exceeded.
  std::map<std::string, Duration> exceeded_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_REFERENCE_H_
