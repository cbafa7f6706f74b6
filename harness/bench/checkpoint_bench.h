// Measures what checkpoints cost.
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
  double between_kills = 1;  // mean, in seconds
  uint64_t kills = 50;       // about
};

struct CheckpointBenchPlan {
  std::string program;              // `gauntlet`
  std::filesystem::path directory;  // exists; nothing stays in it
  std::vector<SaveMode> modes;      // beside runs without saves
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
  // A trial begins; `done` of `all` are over.
  virtual void Trial(uint64_t done, uint64_t all, const std::string& name) = 0;
  virtual bool Interrupted() = 0;
};

// The configurations that are measured, those without saves among them.
std::vector<CheckpointConfig> ConfigsOf(const CheckpointBenchPlan& plan);

// Bytes that the trials need on the disk at one time, and in memory.
uint64_t DiskBytesFor(const CheckpointBenchPlan& plan);
uint64_t MemoryBytesFor(const CheckpointBenchPlan& plan);

// Runs all configurations in turns: each trial measures every one of them, in
// an order that is reversed in the next trial, and a run without saves beside
// them, so that what changes on the machine meanwhile changes them alike.
// The context is left to the caller. If a training run fails, or the
// user interrupts, the result has the finished trials. Fails only if a run
// fails before any trial finishes.
Result<CheckpointResult> RunCheckpointBench(const CheckpointBenchPlan& plan,
                                            BenchObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_CHECKPOINT_BENCH_H_
