// A training run of a benchmark, in separate processes.
#ifndef GAUNTLET_HARNESS_BENCH_BENCH_TRAINING_H_
#define GAUNTLET_HARNESS_BENCH_BENCH_TRAINING_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/real/process/child_process.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "harness/bench/step_watch.h"
#include "harness/bench/trial_events.h"
#include "harness/bench/worker_probe.h"
#include "harness/record/event.h"

namespace gauntlet {

struct BenchTrainingPlan {
  std::string program;              // `gauntlet`
  std::filesystem::path directory;  // exists, empty; for all files of the run
  TrainOptions train;               // all paths in it are in `directory`
  int workers = 1;
  RestartPolicy restart = RestartPolicy::kWholeJob;
};

// Result of a training run that has ended.
struct BenchTrainingEnd {
  std::string digest;  // digest of the trained state, 32 hex digits
  std::vector<IncarnationEvents> incarnations;
};

// A training run in progress. Its destructor kills the workers.
class BenchTraining {
 public:
  // Starts the launcher. Call it from a thread that lives as long as the
  // run (see StartChild).
  static Result<std::unique_ptr<BenchTraining>> Start(
      const BenchTrainingPlan& plan);
  ~BenchTraining();
  BenchTraining(const BenchTraining&) = delete;
  BenchTraining& operator=(const BenchTraining&) = delete;

  // Waits until a chief has finished the step. kCancelled: `interrupted`
  // returned true; kFailedPrecondition: the run ended before the step.
  Status AwaitStep(uint64_t step, const std::function<bool()>& interrupted);
  // Returns the newest step that the chief's newest process has finished; 0 if
  // there is none yet.
  uint64_t Step();
  std::vector<WorkerPid> Workers() const { return WorkersOf(launcher_.pid); }
  // Sends SIGKILL to the worker, and stores the worker and the time in `kill`.
  // Returns false if the worker is not running.
  bool KillWorker(int worker, Kill& kill) const;
  // Returns true iff the launcher ended within the time.
  bool AwaitEndFor(std::chrono::milliseconds time);
  // Waits for the end. kCancelled: `interrupted` returned true.
  // kFailedPrecondition: the run failed; the message quotes the last line of
  // its output.
  Result<BenchTrainingEnd> Finish(const std::function<bool()>& interrupted);

 private:
  BenchTraining(const BenchTrainingPlan& plan, ChildProcess launcher);
  Status EndedEarly();

  const std::filesystem::path directory_;
  ChildProcess launcher_;
  bool reaped_ = false;
  ChildEnd end_;
  StepWatch steps_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_BENCH_TRAINING_H_
