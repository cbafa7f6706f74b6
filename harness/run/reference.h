// Reference runs: one worker, one thread, no checkpoints, no faults. What they
// go through is the golden trajectory that records are held against.
#ifndef GAUNTLET_HARNESS_RUN_REFERENCE_H_
#define GAUNTLET_HARNESS_RUN_REFERENCE_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "harness/record/golden.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

// The undisturbed run of the plan's job over the plan's horizon, by the scalar
// path where the job is small enough for it.
RunPlan ReferencePlanOf(const RunPlan& plan, const DataSplit& data);

// Makes each reference run once; safe from any thread.
class References {
 public:
  // Kept as files in `cache_directory`, made if need be; empty: only in memory.
  // `build` tells this program's build from others: a file of another one does
  // not count, nor does one that was changed: it is made again.
  // `interrupted`: as of RunPlan, for the runs that are made here.
  References(std::string cache_directory, std::string build,
             std::function<bool()> interrupted = {});

  // The data of a job, loaded once.
  Result<std::shared_ptr<const DataSplit>> DataOf(const DataSpec& spec);

  // The trajectory of the plan's job over the plan's horizon, by the scalar
  // path where the job is small enough for it. `makes` is called before a run
  // that has to be made. kUnavailable: interrupted, by the plan's word or by
  // the one here.
  Result<std::shared_ptr<const GoldenTrajectory>> GoldenFor(
      const RunPlan& plan, const std::function<void()>& makes = {});

  const std::function<bool()>& interrupted() const { return interrupted_; }

 private:
  Result<GoldenTrajectory> Make(const RunPlan& plan, const DataSplit& data);
  std::string CacheFile(const std::string& key) const;

  std::string cache_directory_;
  std::string build_;
  std::function<bool()> interrupted_;
  std::mutex mutex_;  // held while a run is made: others wait for it
  std::map<std::string, std::shared_ptr<const DataSplit>> data_;  // by spec
  std::map<std::string, std::shared_ptr<const GoldenTrajectory>> golden_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_REFERENCE_H_
