#include "harness/bench/checkpoint_bench.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "harness/bench/checkpoint_trial.h"
#include "harness/bench/figures/recommendation.h"
#include "harness/bench/figures/statistics.h"
#include "harness/bench/machine_limits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Minimum number of steps before the measured window: the first steps and the
// first save are slow.
constexpr uint64_t kLeastWarmUp = 10;
// Training continues after the window for about this long, so that there are
// steps at which a worker can be killed.
constexpr double kTailSeconds = 0.1;
// Limit of that time, in saves: in a small model a save may take a hundred
// times as long as a step, so that the training would continue for many
// seconds.
constexpr uint64_t kMostSavesInTail = 200;

// Configurations that differ only in the save mode, so they are compared with
// each other.
struct Group {
  CheckpointConfig base;  // without saves
  std::vector<CheckpointFigures> figures;
  TrialValues base_steps;
  std::string digest;                  // digest of the base's trained state
  std::vector<TrialValues> downtimes;  // in the order of `figures`
};

uint64_t StepsRoundedUp(uint64_t steps, uint64_t every) {
  return (steps + every - 1) / every * every;
}

// Returns the numbers of shards to measure. 0 stands for all workers.
std::vector<int> ShardsOf(const CheckpointBenchPlan& plan, int workers) {
  std::vector<int> different;
  for (const int wanted : plan.shards) {
    const int shards = wanted < workers ? wanted : 0;
    if (std::ranges::find(different, shards) == different.end()) {
      different.push_back(shards);
    }
  }
  return different;
}

TrialSteps StepsOf(const CheckpointBenchPlan& plan, uint64_t every,
                   double fastest_step) {
  TrialSteps steps;
  steps.window.begin = std::max(2 * every, StepsRoundedUp(kLeastWarmUp, every));
  steps.window.end = steps.window.begin + plan.saves * every;
  const auto tail = static_cast<uint64_t>(kTailSeconds / fastest_step);
  steps.end =
      steps.window.end + std::clamp(tail, 3 * every, kMostSavesInTail * every);
  return steps;
}

Group GroupOf(const CheckpointBenchPlan& plan, const CheckpointConfig& base) {
  Group group;
  group.base = base;
  group.figures.push_back({.config = base});
  for (const SaveMode mode : plan.modes) {
    group.figures.push_back({.config = base});
    group.figures.back().config.mode = mode;
  }
  group.downtimes.resize(group.figures.size());
  return group;
}

std::vector<Group> GroupsOf(const CheckpointBenchPlan& plan) {
  std::vector<Group> groups;
  for (const uint64_t state : plan.state_bytes) {
    for (const int workers : plan.workers) {
      for (const int shards : ShardsOf(plan, workers)) {
        for (const uint64_t every : plan.every) {
          groups.push_back(GroupOf(plan, {.state_bytes = state,
                                          .every = every,
                                          .workers = workers,
                                          .shards = shards}));
        }
      }
    }
  }
  return groups;
}

class CheckpointBench {
 public:
  CheckpointBench(const CheckpointBenchPlan& plan, BenchObserver& observer)
      : plan_(plan), observer_(observer), random_(plan.seed) {}

  Result<CheckpointResult> Run();

 private:
  Status RunGroup(Group& group);
  Status RunRound(Group& group, TrialSteps steps, int round);
  void AddBase(Group& group, const TrialOutcome& base);
  void AddTrial(Group& group, size_t index, const TrialOutcome& trial,
                const TrialOutcome& base) const;
  Status MeasureGoodput(Group& group);
  Status MeasureLimits(uint64_t state_bytes);
  Result<TrialOutcome> Try(const CheckpointConfig& config,
                           const TrialSteps& steps);
  void ReportTrial(const std::string& name) {
    observer_.OnTrialBegun(done_++, all_, name);
  }

  const CheckpointBenchPlan& plan_;
  BenchObserver& observer_;
  std::mt19937_64 random_;
  TrialPlace place_;
  uint64_t done_ = 0;
  uint64_t all_ = 0;
  CheckpointResult result_;
};

Result<TrialOutcome> CheckpointBench::Try(const CheckpointConfig& config,
                                          const TrialSteps& steps) {
  ReportTrial(NameOf(config));
  Result<TrialOutcome> outcome = RunTrial(place_, config, steps);
  if (outcome.ok()) return outcome;
  return Annotate(outcome.status(), NameOf(config));
}

Status CheckpointBench::MeasureLimits(uint64_t state_bytes) {
  auto figures =
      std::ranges::find(result_.machine, state_bytes, &MachineFigures::bytes);
  if (figures == result_.machine.end()) {
    result_.machine.push_back({.bytes = state_bytes, .values = {}});
    figures = result_.machine.end() - 1;
  }
  ASSIGN_OR_RETURN(const MachineSample sample,
                   MeasureMachine(plan_.directory, state_bytes));
  for (size_t i = 0; i < kMachineLimits; ++i) {
    if (sample[i]) figures->values[i].push_back(*sample[i]);
  }
  return OkStatus();
}

void CheckpointBench::AddTrial(Group& group, size_t index,
                               const TrialOutcome& trial,
                               const TrialOutcome& base) const {
  CheckpointFigures& figures = group.figures[index];
  const auto steps = static_cast<double>(plan_.saves * group.base.every);
  const auto saves = static_cast<double>(plan_.saves);
  const WindowFigures& window = trial.window;
  const auto add = [&figures](Metric metric, double value) {
    figures.of(metric).push_back(value);
  };
  add(Metric::kStep, window.seconds / steps);
  // 0: the workers had ended before this was measured.
  if (trial.cpu_seconds > 0) add(Metric::kCpu, trial.cpu_seconds);
  if (trial.memory_bytes > 0) add(Metric::kMemory, trial.memory_bytes);
  if (!figures.config.mode) return;
  add(Metric::kStall, window.stall_seconds / saves);
  add(Metric::kCost, (window.seconds - base.window.seconds) / saves);
  add(Metric::kOverhead, window.seconds / base.window.seconds - 1.0);
  if (!window.durable_seconds.empty()) {
    const double durable = MedianOf(window.durable_seconds);
    double on_the_way = 0;
    for (const double seconds : window.durable_seconds) on_the_way += seconds;
    add(Metric::kDurable, durable);
    add(Metric::kBandwidth, window.bytes / durable);
    add(Metric::kBytes, window.bytes);
    add(Metric::kBusy, std::min(1.0, on_the_way / window.seconds));
  }
  if (!trial.recovery) return;
  const RecoveryFigures& recovery = *trial.recovery;
  add(Metric::kDetect, recovery.detect);
  add(Metric::kRespawn, recovery.respawn);
  add(Metric::kJoin, recovery.join);
  add(Metric::kRestore, recovery.restore);
  add(Metric::kRecompute, recovery.recompute);
  add(Metric::kRecovery, recovery.total());
  // Steps after a restart are slow at first. The extra time counts as downtime.
  const double slow_start =
      recovery.recompute -
      static_cast<double>(recovery.recomputed) * window.seconds / steps;
  group.downtimes[index].push_back(recovery.total() - recovery.recompute +
                                   std::max(0.0, slow_start));
}

// Runs each configuration once, including the base.
Status CheckpointBench::RunRound(Group& group, TrialSteps steps, int round) {
  const uint64_t every = group.base.every;
  // Kills a worker after the first save that follows the window. That save has
  // waited for the saves of the window, so these have ended.
  steps.kill = steps.window.end + every + random_() % every;
  steps.victim =
      static_cast<int>(random_() % static_cast<uint64_t>(group.base.workers));
  std::vector<TrialOutcome> outcomes(group.figures.size());
  for (size_t turn = 0; turn < outcomes.size(); ++turn) {
    const size_t index = round % 2 == 0 ? turn : outcomes.size() - 1 - turn;
    ASSIGN_OR_RETURN(outcomes[index], Try(group.figures[index].config, steps));
  }
  RETURN_IF_ERROR(MeasureLimits(group.base.state_bytes));
  const TrialOutcome& base = outcomes.front();
  if (group.digest.empty()) group.digest = base.digest;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    CheckpointFigures& figures = group.figures[i];
    if (outcomes[i].digest != group.digest && figures.voided.empty()) {
      figures.voided = fmt::format(
          "trial {}: trained state {}, {} in the first run without saves",
          round + 1, outcomes[i].digest, group.digest);
    }
    AddTrial(group, i, outcomes[i], base);
  }
  return OkStatus();
}

Status CheckpointBench::MeasureGoodput(Group& group) {
  const double step = MedianOf(group.figures.front().of(Metric::kStep));
  for (size_t i = 1; i < group.figures.size(); ++i) {
    CheckpointFigures& figures = group.figures[i];
    if (!figures.voided.empty()) continue;
    if (figures.of(Metric::kDurable).empty() || group.downtimes[i].empty()) {
      figures.goodput_missing =
          "no trial shows how long a save or a recovery takes";
      continue;
    }
    MeasuredGoodput goodput;
    goodput.interval = step * static_cast<double>(group.base.every);
    // The formula is about expected values, so it takes means, not medians. The
    // median would ignore that a worker that dies during a save has a longer
    // downtime.
    goodput.model = ModelOfSaves(figures, plan_.goodput->between_kills, MeanOf);
    goodput.model.downtime = MeanOf(group.downtimes[i]);
    const double seconds = plan_.goodput->between_kills *
                           static_cast<double>(plan_.goodput->kills);
    const double expected = ExpectedGoodput(goodput.model, goodput.interval);
    const GoodputSteps steps = {
        .end = std::max<uint64_t>(
            1, static_cast<uint64_t>(seconds * expected / step)),
        .between_kills = plan_.goodput->between_kills,
        .seed = plan_.seed};
    ReportTrial("goodput, " + NameOf(figures.config));
    CheckpointConfig base = group.base;
    Result<GoodputOutcome> outcome =
        RunUnderKills(place_, figures.config, steps);
    if (!outcome.ok()) {
      return Annotate(outcome.status(), "goodput, " + NameOf(figures.config));
    }
    // Trains the same steps without saves and kills, to compare the trained
    // states.
    ReportTrial("goodput, " + NameOf(base));
    ASSIGN_OR_RETURN(
        const GoodputOutcome undisturbed,
        RunUnderKills(place_, base, {.end = steps.end, .seed = plan_.seed}));
    if (outcome->digest != undisturbed.digest) {
      figures.voided = fmt::format("under kills: trained state {}, {} without",
                                   outcome->digest, undisturbed.digest);
      continue;
    }
    if (outcome->kills == 0) {
      figures.goodput_missing =
          "the run ended before its first kill; raise --kills or --kill-every";
      continue;
    }
    goodput.kills = outcome->kills;
    goodput.seconds = outcome->seconds;
    goodput.model.between_failures =
        outcome->seconds / static_cast<double>(outcome->kills);
    // The time of the same steps in the undisturbed run is the productive time.
    goodput.measured = undisturbed.seconds / outcome->seconds;
    goodput.expected = ExpectedGoodput(goodput.model, goodput.interval);
    figures.goodput = goodput;
    figures.of(Metric::kGoodput) = {goodput.measured};
  }
  return OkStatus();
}

// Sets memory_added. Unlike the other differences, it depends on all trials.
void AddMemoryAdded(Group& group) {
  const TrialValues& base = group.figures.front().of(Metric::kMemory);
  for (CheckpointFigures& figures : group.figures) {
    if (!figures.config.mode) continue;
    figures.of(Metric::kMemoryAdded) =
        MemoryAdded(figures.of(Metric::kMemory), base);
  }
}

Status CheckpointBench::RunGroup(Group& group) {
  // This run measures the duration of a step, from which the number of steps
  // follows. It also warms the caches.
  TrialSteps steps = StepsOf(plan_, group.base.every, kTailSeconds);
  steps.end = steps.window.end;
  ReportTrial("calibration, " + NameOf(group.base));
  ASSIGN_OR_RETURN(const TrialOutcome calibration,
                   RunTrial(place_, group.base, steps));
  steps = StepsOf(plan_, group.base.every, calibration.window.fastest_step);
  for (int round = 0; round < plan_.trials; ++round) {
    RETURN_IF_ERROR(RunRound(group, steps, round));
  }
  if (plan_.goodput) RETURN_IF_ERROR(MeasureGoodput(group));
  return OkStatus();
}

Result<CheckpointResult> CheckpointBench::Run() {
  place_ = {.program = plan_.program,
            .directory = plan_.directory,
            .restart = plan_.restart,
            .interrupted = [this] { return observer_.Interrupted(); }};
  std::vector<Group> groups = GroupsOf(plan_);
  const size_t modes = plan_.modes.size();
  const size_t of_group = 1 + static_cast<size_t>(plan_.trials) * (modes + 1) +
                          (plan_.goodput ? 2 * modes : 0);
  all_ = groups.size() * of_group;
  for (Group& group : groups) {
    const Status ran = RunGroup(group);
    AddMemoryAdded(group);
    for (CheckpointFigures& figures : group.figures) {
      if (figures.of(Metric::kStep).empty() && figures.voided.empty()) continue;
      if (!figures.voided.empty()) figures.values = {};
      result_.figures.push_back(std::move(figures));
    }
    if (ran.ok()) continue;
    const bool is_interrupted = ran.code() == Code::kCancelled;
    if (result_.figures.empty() && is_interrupted)
      return Cancelled(
          "interrupted before the first trial had ended: no figures");
    if (result_.figures.empty()) return ran;
    if (is_interrupted) {
      result_.interrupted = true;
    } else {
      result_.failure = ran.message();
    }
    break;
  }
  return std::move(result_);
}

}  // namespace

std::vector<CheckpointConfig> ConfigsOf(const CheckpointBenchPlan& plan) {
  std::vector<CheckpointConfig> configs;
  for (const Group& group : GroupsOf(plan)) {
    for (const CheckpointFigures& figures : group.figures) {
      configs.push_back(figures.config);
    }
  }
  return configs;
}

uint64_t DiskBytesFor(const CheckpointBenchPlan& plan) {
  // Space for four checkpoints: two that are kept, one being written, and one
  // that retention has not removed yet. At other times, the files of
  // MeasureMachine use this space.
  return 4 * std::ranges::max(plan.state_bytes);
}

uint64_t MemoryBytesFor(const CheckpointBenchPlan& plan) {
  // Each worker has the state and the gradients. During a save, the workers
  // together have one more copy of the state.
  const auto workers = static_cast<uint64_t>(std::ranges::max(plan.workers));
  const uint64_t state = std::ranges::max(plan.state_bytes);
  return workers * (2 * state) + state;
}

Result<CheckpointResult> RunCheckpointBench(const CheckpointBenchPlan& plan,
                                            BenchObserver& observer) {
  return CheckpointBench(plan, observer).Run();
}

}  // namespace gauntlet
