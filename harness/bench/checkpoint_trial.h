// One trial of a checkpoint benchmark: a training run that saves, loses a
// worker to a kill, and recovers.
#ifndef GAUNTLET_HARNESS_BENCH_CHECKPOINT_TRIAL_H_
#define GAUNTLET_HARNESS_BENCH_CHECKPOINT_TRIAL_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/status.h"
#include "harness/bench/bench_training.h"
#include "harness/bench/figures/checkpoint_result.h"
#include "harness/bench/trial_events.h"

namespace gauntlet {

// Settings that all trials share.
struct TrialPlace {
  std::string program;
  std::filesystem::path directory;  // contains a folder for each trial
  RestartPolicy restart = RestartPolicy::kWholeJob;
  std::function<bool()> interrupted;
};

struct TrialSteps {
  StepWindow window;  // measured steps
  uint64_t end = 0;   // last step of the run
  uint64_t kill = 0;  // with saves: a worker is killed after this step
  int victim = 0;
};

struct TrialOutcome {
  std::string digest;
  WindowFigures window;
  double cpu_seconds = 0;  // CPU time of a step, of all workers together
  // Greatest peak memory of a worker; 0 if no worker was left to measure.
  double memory_bytes = 0;
  // nullopt: nothing was saved, or the run had ended before the kill.
  std::optional<RecoveryFigures> recovery;
};

// Returns the training options for all trials of a configuration. Without a
// save mode they have no checkpoint directory.
TrainOptions OptionsOf(const CheckpointConfig& config, uint64_t end,
                       const std::filesystem::path& directory);

// Runs one trial in a folder of its own, which is then removed. kCancelled: the
// trial was interrupted. kFailedPrecondition: the run failed.
Result<TrialOutcome> RunTrial(const TrialPlace& place,
                              const CheckpointConfig& config,
                              const TrialSteps& steps);

struct GoodputSteps {
  uint64_t end = 0;
  std::optional<double> between_kills;  // mean, in seconds; nullopt: no kills
  uint64_t seed = 0;                    // seed of kill times and victims
};

struct GoodputOutcome {
  std::string digest;
  uint64_t kills = 0;
  double seconds = 0;  // from the start of training to the last step
};

// Trains to the end while workers are killed at random times.
Result<GoodputOutcome> RunUnderKills(const TrialPlace& place,
                                     const CheckpointConfig& config,
                                     const GoodputSteps& steps);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_CHECKPOINT_TRIAL_H_
