#include "harness/bench/checkpoint_trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <system_error>

#include "harness/bench/state_job.h"
#include "harness/run/files/temporary_directory.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr int kKeptCheckpoints = 2;

// A training run, and its folder, which is removed after the run ends.
struct StartedTrial {
  std::unique_ptr<TemporaryDirectory> folder;
  std::unique_ptr<BenchTraining> training;
};

Result<StartedTrial> StartTrial(const TrialPlace& place,
                                const CheckpointConfig& config, uint64_t end) {
  StartedTrial trial;
  ASSIGN_OR_RETURN(trial.folder,
                   TemporaryDirectory::MakeIn(place.directory, "trial"));
  const fs::path path = trial.folder->path();
  for (const char* name : {"events", "logs"}) {
    std::error_code error;
    fs::create_directory(path / name, error);
    if (error) return IoError((path / name).string() + ": " + error.message());
  }
  ASSIGN_OR_RETURN(trial.training,
                   BenchTraining::Start({.program = place.program,
                                         .directory = path,
                                         .train = OptionsOf(config, end, path),
                                         .workers = config.workers,
                                         .restart = place.restart}));
  return trial;
}

// CPU time of all workers up to a step.
struct CpuMark {
  uint64_t step = 0;
  double seconds = 0;
};

CpuMark MarkCpu(BenchTraining& training) {
  CpuMark mark;
  for (const WorkerPid& worker : training.Workers()) {
    mark.seconds += CpuSecondsOf(worker.pid);
  }
  mark.step = training.Step();
  return mark;
}

double PeakMemoryOfWorkers(const BenchTraining& training) {
  uint64_t peak = 0;
  for (const WorkerPid& worker : training.Workers()) {
    peak = std::max(peak, PeakMemoryOf(worker.pid));
  }
  return static_cast<double>(peak);
}

// Exponentially distributed times between kills, and the worker for each kill.
class KillTimes {
 public:
  KillTimes(const GoodputSteps& steps, int workers)
      : mean_(*steps.between_kills), workers_(workers), random_(steps.seed) {
    Next();
  }

  SteadyClock::time_point at() const { return at_; }
  int worker() const { return worker_; }
  void Next() {
    // In (0, 1].
    const double uniform =
        (static_cast<double>(random_() >> 11) + 1.0) * 0x1.0p-53;
    at_ += std::chrono::duration_cast<SteadyClock::duration>(
        std::chrono::duration<double>(-mean_ * std::log(uniform)));
    worker_ = static_cast<int>(random_() % static_cast<uint64_t>(workers_));
  }

 private:
  const double mean_;
  const int workers_;
  std::mt19937_64 random_;
  SteadyClock::time_point at_ = SteadyClock::now();
  int worker_ = 0;
};

Result<GoodputOutcome> Collect(BenchTraining& training, const TrialPlace& place,
                               uint64_t end, uint64_t kills) {
  ASSIGN_OR_RETURN(const BenchTrainingEnd left,
                   training.Finish(place.interrupted));
  const std::optional<int64_t> began = TrainingBegan(left.incarnations);
  const std::optional<int64_t> done = StepFinished(left.incarnations, end);
  if (!began || !done) {
    return FailedPrecondition(
        "the run left no events of its first or last step");
  }
  return GoodputOutcome{.digest = left.digest,
                        .kills = kills,
                        .seconds = static_cast<double>(*done - *began) * 1e-9};
}

}  // namespace

TrainOptions OptionsOf(const CheckpointConfig& config, uint64_t end,
                       const fs::path& directory) {
  TrainOptions options;
  options.job = StateJob(config.state_bytes, config.workers);
  options.horizon.epochs = end;  // each has at least one step
  options.horizon.max_steps = end;
  if (!config.mode) return options;
  options.checkpoint.directory = directory / "ckpt";
  options.checkpoint.trigger = {.unit = SaveUnit::kSteps,
                                .every = config.every};
  options.checkpoint.mode = *config.mode;
  options.checkpoint.shards = config.shards;
  options.checkpoint.keep = kKeptCheckpoints;
  options.checkpoint.at_success = AtSuccess::kLeaveCheckpoints;
  return options;
}

Result<TrialOutcome> RunTrial(const TrialPlace& place,
                              const CheckpointConfig& config,
                              const TrialSteps& steps) {
  ASSIGN_OR_RETURN(const StartedTrial trial,
                   StartTrial(place, config, steps.end));
  BenchTraining& training = *trial.training;
  RETURN_IF_ERROR(training.AwaitStep(steps.window.begin, place.interrupted));
  const CpuMark begin = MarkCpu(training);
  RETURN_IF_ERROR(training.AwaitStep(steps.window.end, place.interrupted));
  TrialOutcome outcome;
  // Reads the peak memory before the CPU times, because the peak grows with
  // each step that is made in between (see MemoryAdded).
  outcome.memory_bytes = PeakMemoryOfWorkers(training);
  const CpuMark end = MarkCpu(training);
  // The CPU time of a worker is gone with its process.
  if (end.seconds > begin.seconds) {
    outcome.cpu_seconds =
        (end.seconds - begin.seconds) /
        static_cast<double>(std::max<uint64_t>(1, end.step - begin.step));
  }
  std::optional<Kill> kill;
  if (config.mode) {
    RETURN_IF_ERROR(training.AwaitStep(steps.kill, place.interrupted));
    Kill made;
    if (training.KillWorker(steps.victim, made)) kill = made;
  }
  ASSIGN_OR_RETURN(const BenchTrainingEnd left,
                   training.Finish(place.interrupted));
  outcome.digest = left.digest;
  ASSIGN_OR_RETURN(outcome.window, ReadWindow(left.incarnations, steps.window));
  if (kill) {
    const Result<RecoveryFigures> recovery =
        ReadRecovery(left.incarnations, *kill);
    if (recovery.ok()) outcome.recovery = *recovery;
  }
  return outcome;
}

Result<GoodputOutcome> RunUnderKills(const TrialPlace& place,
                                     const CheckpointConfig& config,
                                     const GoodputSteps& steps) {
  ASSIGN_OR_RETURN(const StartedTrial trial,
                   StartTrial(place, config, steps.end));
  BenchTraining& training = *trial.training;
  RETURN_IF_ERROR(training.AwaitStep(1, place.interrupted));
  if (!steps.between_kills) return Collect(training, place, steps.end, 0);
  KillTimes kills(steps, config.workers);
  uint64_t killed = 0;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        kills.at() - SteadyClock::now());
    // Waits in pieces, so that interrupts are noticed.
    const auto piece = std::clamp(left, std::chrono::milliseconds(0),
                                  std::chrono::milliseconds(100));
    if (training.AwaitEndFor(piece)) break;
    if (place.interrupted()) return Cancelled("interrupted");
    if (SteadyClock::now() < kills.at()) continue;
    // A kill that finds no process has no effect and does not count.
    Kill made;
    if (training.KillWorker(kills.worker(), made)) ++killed;
    kills.Next();
  }
  return Collect(training, place, steps.end, killed);
}

}  // namespace gauntlet
