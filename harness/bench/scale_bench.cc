#include "harness/bench/scale_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "chaos/sim/scheduler/fiber.h"
#include "engine/data/dataset.h"
#include "engine/job/job.h"
#include "engine/real/storage/posix_storage.h"
#include "harness/bench/figures/failure_model.h"
#include "harness/bench/trial_events.h"
#include "harness/bench/worker_probe.h"
#include "harness/run/case_runner.h"
#include "harness/run/executor/sim_run.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr uint64_t kSteps = 16;
constexpr uint64_t kSaveEvery = 5;
// At this step, the save after step 5 has ended and the next one has not begun.
constexpr uint64_t kCrashStep = 8;
// Steps after the warm-up; one save, after step 10, is in the first window.
constexpr StepWindow kSaveWindow = {.begin = 9, .end = 11};
constexpr StepWindow kPlainWindow = {.begin = 11, .end = 15};
constexpr Duration kNoLimit = std::chrono::hours(24 * 365);
// The rate of crashes in the measured run is chosen so that the formula
// predicts this goodput. Most jobs that are worth a checkpoint have 0.6 to 0.9.
constexpr double kCheckedGoodput = 0.8;

// Returns the case for a cluster of that size, as a scenario would describe it.
Case CaseOf(const ScaleSetup& setup, int workers, uint64_t steps) {
  Case one;
  one.name = fmt::format("scale-{}", workers);
  one.seed = setup.seed;
  JobSpec job = *PresetJob("tiny");
  job.seed = setup.seed;
  job.replicas = workers;
  job.batch = 1;
  job.data.samples = static_cast<int>(kSteps) * workers;
  one.train.job = job;
  one.train.horizon.epochs = (steps + kSteps - 1) / kSteps;
  one.train.horizon.max_steps = steps;
  one.train.checkpoint.trigger = {.unit = SaveUnit::kSteps,
                                  .every = kSaveEvery};
  one.cluster.workers = workers;
  one.cluster.hosts = HostsChoice::kSeparate;
  one.cluster.link = setup.link;
  one.cluster.step_time = setup.step_time;
  one.cluster.max_restarts = 1'000'000;
  return one;
}

void AddCrash(Case& one, int worker, int incarnation, uint64_t step) {
  one.plan.faults.push_back(
      {.id = fmt::format("crash-{}", one.plan.faults.size() + 1),
       .site = {.worker = worker,
                .incarnation = incarnation,
                .step = step,
                .point = Point::kStepBegin},
       .kind = FaultKind::kCrash});
}

// Returns the number of messages that the whole cluster has sent up to `t_ns`.
uint64_t MessagesUntil(const std::vector<TrafficSample>& traffic,
                       int64_t t_ns) {
  const auto behind =
      std::ranges::upper_bound(traffic, t_ns, {}, &TrafficSample::t_ns);
  return behind == traffic.begin() ? 0 : std::prev(behind)->messages;
}

// Peak memory of this process since construction. The constructor resets the
// kernel's figure by writing 5 (proc(5)). If that is forbidden, the figure is
// the peak of all clusters so far. The error is small, as each cluster is
// larger than those before it.
class PeakMemory {
 public:
  PeakMemory() { std::ofstream("/proc/self/clear_refs") << 5; }
  double Bytes() const { return static_cast<double>(PeakMemoryOf(getpid())); }
};

// Events of a run, including the launcher's, and the digest of its final state.
struct SimulatedTraining {
  std::vector<TrafficSample> traffic;
  std::vector<IncarnationEvents> incarnations;
  std::string digest;
};

class ScaleBench {
 public:
  ScaleBench(const ScaleBenchPlan& plan, BenchObserver& observer)
      : plan_(plan), observer_(observer) {}

  Result<ScaleResult> Run();

 private:
  bool IsInterrupted() { return interrupted_ |= observer_.Interrupted(); }
  Result<ScaleFigures> Measure(int workers);
  Result<SimulatedTraining> Simulate(const Case& one, std::string_view what);
  Status ReadUndisturbed(const SimulatedTraining& run, ScaleFigures& figures);
  Status ReadRestart(const SimulatedTraining& run, ScaleFigures& figures);
  FailureModel ModelOf(const ScaleFigures& figures) const;
  void Predict(ScaleFigures& figures) const;
  Status MeasureGoodput(ScaleFigures& figures);

  const ScaleBenchPlan& plan_;
  BenchObserver& observer_;
  const double memory_at_start_ = PeakMemory().Bytes();
  FiberPool pool_;
  std::shared_ptr<const DataSplit> data_;  // for this number of workers
  std::optional<RunMemo> memo_;            // for this number of workers
  uint64_t done_ = 0;
  uint64_t runs_ = 0;
  bool interrupted_ = false;
};

Result<SimulatedTraining> ScaleBench::Simulate(const Case& one,
                                               std::string_view what) {
  observer_.OnTrialBegun(
      done_++, runs_, fmt::format("{} workers, {}", one.cluster.workers, what));
  RunPlan plan = PlanOf(one);
  plan.train.digest_every = 0;
  plan.train.log_samples = false;
  plan.counts_messages = true;
  plan.hang_limit = plan.total_limit = kNoLimit;
  plan.interrupted = [this] { return IsInterrupted(); };
  RunLog log = RunSimulated(pool_, plan, *data_, &*memo_);
  const auto failed = [&](std::string_view why) {
    return FailedPrecondition(
        fmt::format("{} workers, {}: {}; if the links are too slow for the "
                    "engine's time limits, change --latency, --bandwidth or "
                    "--jitter",
                    one.cluster.workers, what, why));
  };
  if (!log.harness_error.empty()) return failed(log.harness_error);
  if (log.launchers.empty() || !log.launchers.back().result) {
    return failed(log.why_not_done.empty() ? log.ending_detail
                                           : log.why_not_done);
  }
  SimulatedTraining run = {.traffic = std::move(log.traffic),
                           .incarnations = std::move(log.incarnations),
                           .digest = log.launchers.back().result->digest};
  for (LauncherRun& launcher : log.launchers) {
    run.incarnations.push_back({.worker = kLauncherWorker,
                                .number = 1,
                                .events = std::move(launcher.events)});
  }
  return run;
}

Status ScaleBench::ReadUndisturbed(const SimulatedTraining& run,
                                   ScaleFigures& figures) {
  const double workers = figures.workers;
  const std::optional<int64_t> began = TrainingBegan(run.incarnations);
  if (!began) return NotFound("training did not begin");
  const std::vector<RecordEvent>& launcher = run.incarnations.back().events;
  figures.of(ScaleMetric::kForm) =
      static_cast<double>(*began - launcher.front().t_ns) * 1e-9;
  figures.of(ScaleMetric::kFormMessages) =
      static_cast<double>(MessagesUntil(run.traffic, *began)) / workers;
  ASSIGN_OR_RETURN(const WindowFigures save,
                   ReadWindow(run.incarnations, kSaveWindow));
  figures.of(ScaleMetric::kSave) = save.stall_seconds;
  ASSIGN_OR_RETURN(const WindowFigures plain,
                   ReadWindow(run.incarnations, kPlainWindow));
  constexpr double kPlainSteps = kPlainWindow.end - kPlainWindow.begin;
  const double step = plain.seconds / kPlainSteps;
  figures.of(ScaleMetric::kStep) = step;
  // A step waits until the sum has passed through all workers once and the
  // first worker has it. Passing it on to the others overlaps with the next
  // step. In a binary tree, the sum would take twice the depth of the tree
  // instead.
  const double compute =
      std::chrono::duration<double>(plan_.setup.step_time).count();
  const double depth = std::ceil(std::log2(workers));
  figures.of(ScaleMetric::kTreeStep) =
      compute + (step - compute) * 2 * depth / workers;
  const auto messages_until = [&](uint64_t step_number) {
    return static_cast<double>(MessagesUntil(
        run.traffic, *StepFinished(run.incarnations, step_number)));
  };
  figures.of(ScaleMetric::kStepMessages) =
      (messages_until(kPlainWindow.end) - messages_until(kPlainWindow.begin)) /
      kPlainSteps / workers;
  return OkStatus();
}

// Returns the only crash of the run.
Result<Kill> CrashIn(const SimulatedTraining& run) {
  for (const IncarnationEvents& incarnation : run.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kFaultFired) {
        return Kill{.worker = incarnation.worker, .t_ns = event.t_ns};
      }
    }
  }
  return NotFound("the crash did not fire");
}

Status ScaleBench::ReadRestart(const SimulatedTraining& run,
                               ScaleFigures& figures) {
  ASSIGN_OR_RETURN(const Kill crash, CrashIn(run));
  ASSIGN_OR_RETURN(const RecoveryFigures recovery,
                   ReadRecovery(run.incarnations, crash));
  figures.of(ScaleMetric::kDetect) = recovery.detect;
  figures.of(ScaleMetric::kRespawn) = recovery.respawn;
  figures.of(ScaleMetric::kJoin) = recovery.join;
  figures.of(ScaleMetric::kRestore) = recovery.restore;
  figures.of(ScaleMetric::kRecompute) = recovery.recompute;
  figures.of(ScaleMetric::kRestart) = recovery.total();
  const int64_t over =
      crash.t_ns + static_cast<int64_t>(recovery.total() * 1e9);
  figures.of(ScaleMetric::kRestartMessages) =
      static_cast<double>(MessagesUntil(run.traffic, over) -
                          MessagesUntil(run.traffic, crash.t_ns)) /
      figures.workers;
  return OkStatus();
}

// The downtime excludes the recomputed steps, because the formula adds them.
FailureModel ScaleBench::ModelOf(const ScaleFigures& figures) const {
  return {.between_failures = plan_.setup.BetweenFailuresOf(figures.workers),
          .save_cost = figures.of(ScaleMetric::kSave),
          .downtime = figures.of(ScaleMetric::kRestart) -
                      figures.of(ScaleMetric::kRecompute)};
}

void ScaleBench::Predict(ScaleFigures& figures) const {
  const FailureModel model = ModelOf(figures);
  const double interval = BestInterval(model, figures.of(ScaleMetric::kStep));
  figures.of(ScaleMetric::kInterval) = interval;
  figures.of(ScaleMetric::kGoodput) = ExpectedGoodput(model, interval);
}

// Returns the mean time between failures for which the formula gives
// kCheckedGoodput at the best interval.
double CheckedBetweenFailures(FailureModel model, double step) {
  double low = step;
  double high = 1e9;
  for (int i = 0; i < 100; ++i) {
    model.between_failures = std::sqrt(low * high);
    const double best = ExpectedGoodput(model, BestInterval(model, step));
    (best < kCheckedGoodput ? low : high) = model.between_failures;
  }
  return model.between_failures;
}

// Draws random times for crashes, and crashes a worker at the beginning of the
// nearest step. Draws no crashes during a restart: they would be rare, and the
// formula uses the actual number of crashes.
Status ScaleBench::MeasureGoodput(ScaleFigures& figures) {
  const double step = figures.of(ScaleMetric::kStep);
  FailureModel model = ModelOf(figures);
  model.between_failures = CheckedBetweenFailures(model, step);
  const double interval = BestInterval(model, step);
  const auto every =
      static_cast<uint64_t>(std::max(1.0, std::round(interval / step)));
  const auto steps =
      static_cast<uint64_t>(static_cast<double>(plan_.crashes) *
                            model.between_failures * kCheckedGoodput / step);
  Case one = CaseOf(plan_.setup, figures.workers, std::max(steps, every));
  one.train.checkpoint.trigger.every = every;
  one.train.checkpoint.keep = 1;
  const Case undisturbed = one;
  std::mt19937_64 random(plan_.setup.seed);
  std::exponential_distribution<double> gap(1.0 / model.between_failures);
  std::uniform_int_distribution<int> worker(0, figures.workers - 1);
  uint64_t resumed = 0;
  for (int incarnation = 1;; ++incarnation) {
    const double until = gap(random) / step;
    const uint64_t crash = resumed + 1 + static_cast<uint64_t>(until + 0.5);
    if (crash > steps) break;
    AddCrash(one, worker(random), incarnation, crash);
    resumed = (crash - 1) / every * every;
  }
  const uint64_t kills = one.plan.faults.size();
  ASSIGN_OR_RETURN(const SimulatedTraining run,
                   Simulate(one, fmt::format("{} crashes", kills)));
  ASSIGN_OR_RETURN(const SimulatedTraining calm,
                   Simulate(undisturbed, "as many steps without a crash"));
  if (run.digest != calm.digest) {
    figures.voided = fmt::format("{} crashes: final state {}, undisturbed {}",
                                 kills, run.digest, calm.digest);
    return OkStatus();
  }
  const std::optional<int64_t> began = TrainingBegan(run.incarnations);
  const std::optional<int64_t> ended = StepFinished(run.incarnations, steps);
  if (!began || !ended) return NotFound("a run with crashes without an end");
  const double seconds = static_cast<double>(*ended - *began) * 1e-9;
  model.between_failures =
      seconds / static_cast<double>(std::max<uint64_t>(kills, 1));
  figures.goodput = {
      .measured = static_cast<double>(steps) * step / seconds,
      .expected = ExpectedGoodput(model, static_cast<double>(every) * step),
      .kills = kills,
      .seconds = seconds,
      .interval = static_cast<double>(every) * step,
      .model = model};
  return OkStatus();
}

Result<ScaleFigures> ScaleBench::Measure(int workers) {
  const PeakMemory memory;
  ScaleFigures figures = {.workers = workers};
  const Case plain = CaseOf(plan_.setup, workers, kSteps);
  PosixStorage storage;
  ASSIGN_OR_RETURN(data_, LoadData(storage, plain.train.job.data));
  memo_.emplace(plain.train.job, *data_);
  ASSIGN_OR_RETURN(const SimulatedTraining undisturbed,
                   Simulate(plain, "undisturbed"));
  RETURN_IF_ERROR(ReadUndisturbed(undisturbed, figures));
  Case restarts = plain;
  AddCrash(restarts, workers / 2, 1, kCrashStep);
  Case rejoins = restarts;
  rejoins.cluster.policy = RestartPolicy::kRejoin;
  rejoins.train.cluster.on_loss = OnLoss::kRejoin;
  ASSIGN_OR_RETURN(const SimulatedTraining restarted,
                   Simulate(restarts, "restart of all"));
  RETURN_IF_ERROR(ReadRestart(restarted, figures));
  ASSIGN_OR_RETURN(const SimulatedTraining rejoined,
                   Simulate(rejoins, "one rejoins"));
  ASSIGN_OR_RETURN(const Kill crash, CrashIn(rejoined));
  ASSIGN_OR_RETURN(const RecoveryFigures rejoin,
                   ReadRecovery(rejoined.incarnations, crash));
  figures.of(ScaleMetric::kRejoin) = rejoin.total();
  for (const SimulatedTraining* run : {&restarted, &rejoined}) {
    if (run->digest == undisturbed.digest) continue;
    figures.voided = fmt::format("final state {}, undisturbed {}", run->digest,
                                 undisturbed.digest);
    return figures;
  }
  figures.of(ScaleMetric::kMemory) =
      (memory.Bytes() - memory_at_start_) / workers;
  Predict(figures);
  return figures;
}

Result<ScaleResult> ScaleBench::Run() {
  ScaleResult result = {.setup = plan_.setup};
  constexpr uint64_t kRunsOfASize = 3;
  runs_ = kRunsOfASize * plan_.workers.size();
  // Goodput is measured with the largest cluster that is small enough.
  const auto behind =
      std::ranges::upper_bound(plan_.workers, kMostGoodputWorkers);
  const bool measures = plan_.crashes > 0 && behind != plan_.workers.begin();
  if (measures) runs_ += 2;
  for (auto size = plan_.workers.begin(); size != plan_.workers.end(); ++size) {
    Result<ScaleFigures> figures = Measure(*size);
    if (figures.ok() && measures && std::next(size) == behind &&
        figures->voided.empty()) {
      const Status measured = MeasureGoodput(*figures);
      if (!measured.ok()) figures = measured;
    }
    if (interrupted_) {
      if (result.figures.empty())
        return Cancelled(
            "interrupted before the first cluster was measured: no figures");
      result.interrupted = true;
      return result;
    }
    RETURN_IF_ERROR(figures.status());
    result.figures.push_back(*std::move(figures));
  }
  return result;
}

}  // namespace

Result<ScaleResult> RunScaleBench(const ScaleBenchPlan& plan,
                                  BenchObserver& observer) {
  return ScaleBench(plan, observer).Run();
}

}  // namespace gauntlet
