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

// Returns the plan of an undisturbed run of the plan's job over its horizon. It
// uses the scalar path if the job is small enough.
RunPlan ReferencePlanOf(const RunPlan& plan, const DataSplit& data);

// Least real time for a reference run, unless the plan's limit is longer.
inline constexpr Duration kLeastReferenceLimit = std::chrono::minutes(5);

// Makes each reference run once; safe from any thread.
class References {
 public:
  // Keeps the runs as files in `cache_directory`, which is created if need be;
  // empty: only in memory. `build` identifies this build of the program. A file
  // of another build, or one that was changed, is ignored and made again.
  // `interrupted`: as RunPlan::interrupted, for the runs made here.
  References(std::string cache_directory, std::string build,
             std::function<bool()> interrupted = {},
             Duration least_limit = kLeastReferenceLimit);

  // Returns the data of a job, which are loaded once.
  Result<std::shared_ptr<const DataSplit>> DataOf(const DataSpec& spec);

  // Returns the trajectory of the plan's job over its horizon (see
  // ReferencePlanOf). kUnavailable: interrupted, by the plan or by the function
  // given to the constructor. kDeadlineExceeded: the run takes longer in real
  // time than the plan's limit in total, and than the least limit.
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
