// Measures the cost of checkpoints.
#ifndef GAUNTLET_HARNESS_BENCH_CHECKPOINT_BENCH_H_
#define GAUNTLET_HARNESS_BENCH_CHECKPOINT_BENCH_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/options.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// Real kills at random times, to measure the goodput.
struct GoodputPlan {
  double between_kills = 1;  // mean time, in seconds
  uint64_t kills = 50;       // approximate number
};

struct CheckpointBenchPlan {
  std::string program;              // `gauntlet`
  std::filesystem::path directory;  // exists; all files in it are removed again
  std::vector<SaveMode> modes;      // in addition to runs without saves
  std::vector<uint64_t> state_bytes;
  std::vector<uint64_t> every;  // steps
  std::vector<int> workers;
  std::vector<int> shards = {0};  // 0: as many as workers
  int trials = 6;
  uint64_t saves = 10;  // measured in each trial
  RestartPolicy restart = RestartPolicy::kWholeJob;
  uint64_t seed = 1;  // seed of the kills
  std::optional<GoodputPlan> goodput;
};

class BenchObserver {
 public:
  virtual ~BenchObserver() = default;
  // Called when a trial begins; `done` of `all` trials have ended.
  virtual void OnTrialBegun(uint64_t done, uint64_t all,
                            const std::string& name) = 0;
  virtual bool Interrupted() = 0;
};

// Returns the configurations to measure, including those without saves.
std::vector<CheckpointConfig> ConfigsOf(const CheckpointBenchPlan& plan);

// Return the bytes that the trials need at any one time, on the disk and in
// memory.
uint64_t DiskBytesFor(const CheckpointBenchPlan& plan);
uint64_t MemoryBytesFor(const CheckpointBenchPlan& plan);

// Runs all configurations in turns, so that changes of the machine over time
// affect all of them alike: each trial measures a run without saves and every
// configuration, and the next trial does so in the reverse order. Leaves the
// result's `context` for the caller to fill in. If a training run fails, or the
// user interrupts, the result has the finished trials. Returns an error only if
// no trial has finished; kCancelled: the user interrupted.
Result<CheckpointResult> RunCheckpointBench(const CheckpointBenchPlan& plan,
                                            BenchObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_CHECKPOINT_BENCH_H_
