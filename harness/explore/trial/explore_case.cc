#include "harness/explore/trial/explore_case.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "engine/text/units.h"
#include "harness/explore/trial/expected_outcome.h"
#include "harness/scenario/reader/reachable.h"
#include "harness/scenario/save_schedule.h"
#include "harness/scenario/time_limits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kRestarts = 20;
constexpr Duration kTotalLimit = std::chrono::minutes(10);
constexpr Duration kLostAfter = std::chrono::seconds(1);
constexpr Duration kStepTimeout = std::chrono::seconds(3);
constexpr Duration kSaveTimeout = std::chrono::seconds(5);
constexpr Duration kStartTimeout = std::chrono::seconds(30);
constexpr Duration kNoticePollInterval = std::chrono::milliseconds(10);

// A change of the base that changes what is trained or when it is saved. Each
// variation has its own reference run.
struct Variation {
  std::string_view name;
  void (*apply)(Case& setup);
};

void UseSgd(Case& setup) {
  JobSpec& job = setup.train.job;
  job.optimizer = {.kind = OptimizerKind::kSgd,
                   .learning_rate = 0.05f,
                   .momentum = 0.9f,
                   .schedule = {.kind = ScheduleKind::kPiecewise,
                                .warmup = 3,
                                .boundaries = {4, 9},
                                .values = {0.05f, 0.02f, 0.01f}},
                   .clip = {.kind = ClipKind::kGlobalNorm, .limit = 1.0f}};
  job.accumulate = 2;
}

// Uses Adam and gradient accumulation. The sizes are such that the last step of
// an epoch has fewer samples, and the last update of an epoch has fewer
// accumulation steps.
void UseAdam(Case& setup) {
  JobSpec& job = setup.train.job;
  job.optimizer = {.kind = OptimizerKind::kAdam,
                   .learning_rate = 0.002f,
                   .schedule = {.kind = ScheduleKind::kCosineDecay,
                                .warmup = 2,
                                .steps = 16,
                                .alpha = 0.1f},
                   .clip = {.kind = ClipKind::kValue, .limit = 0.05f}};
  job.accumulate = 3;
  job.remainder = Remainder::kKeep;
  if (job.data.kind == DataKind::kDigits) job.data.samples += 10;
}

// Uses convolutions, dropout, and statistics that each replica keeps for
// itself. Changes only jobs with small images, as others would slow the
// exploration down.
void UseConvolutions(Case& setup) {
  JobSpec& job = setup.train.job;
  if (job.data.kind != DataKind::kDigits || job.data.side != 7) return;
  job.model.layers = {{.kind = LayerKind::kConv2D, .filters = 2, .kernel = 3},
                      {.kind = LayerKind::kRelu},
                      {.kind = LayerKind::kCenter, .momentum = 0.9f},
                      {.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kGelu},
                      {.kind = LayerKind::kDropout, .rate = 0.25f},
                      {.kind = LayerKind::kDense, .units = 10}};
}

void SaveAtEpochEnds(Case& setup) {
  const uint64_t an_epoch = ShapeOfEpoch(setup.train.job).steps;
  setup.train.checkpoint.trigger = {.unit = SaveUnit::kSteps,
                                    .every = std::max<uint64_t>(an_epoch, 1)};
}

// Sets a grace period longer than StopTiming::kMargin, so that training
// continues for the rest of it.
void TrainOnDuringGrace(Case& setup) {
  setup.train.preemption.grace = std::chrono::milliseconds(1100);
}

// Returns a step to stop at, usually one without a save; 0: the run is too
// short.
uint64_t StepToStopAt(const Case& setup) {
  return TotalSteps(setup).value_or(0) / 3;
}

void StopAtAStep(Case& setup) {
  const uint64_t step = StepToStopAt(setup);
  if (step > 0) setup.launches = {{.stop_at_step = step}, {}};
}

// Sets three launches: the first trains to the end of an epoch, the second into
// the next epoch, the third to the end.
void TrainLongerEachTime(Case& setup) {
  const uint64_t an_epoch = ShapeOfEpoch(setup.train.job).steps;
  const uint64_t steps = TotalSteps(setup).value_or(0);
  if (an_epoch == 0 || steps <= an_epoch + 2) return;
  if (StepToStopAt(setup) == 0) return;
  setup.launches = {{.epochs = 1}, {.max_steps = an_epoch + 2}, {}};
}

void ChangeTheJobBetweenLaunches(Case& setup) {
  const CheckpointOptions& checkpoint = setup.train.checkpoint;
  const uint64_t step = StepToStopAt(setup);
  if (step == 0 || checkpoint.allow_cold_start ||
      checkpoint.at_success != AtSuccess::kSaveFinalState) {
    return;
  }
  const float rate = setup.train.job.optimizer.learning_rate;
  setup.launches = {{.stop_at_step = step}, {.learning_rate = 2 * rate}, {}};
}

// Allows few restarts, so that faults use them up.
void RestartSeldom(Case& setup) { setup.cluster.max_restarts = kFewRestarts; }

void StoreNothing(Case& setup) { setup.store = StoreChoice::kNone; }

void WriteOutputs(Case& setup) {
  setup.outputs = {.curve_every = 1, .exports = true};
}

constexpr std::array kVariations = {
    Variation{"job with sgd", UseSgd},
    Variation{"job with adam", UseAdam},
    Variation{"job with convolutions", UseConvolutions},
    Variation{"saves at epoch ends", SaveAtEpochEnds},
    Variation{"grace 1100ms", TrainOnDuringGrace},
    Variation{"few restarts", RestartSeldom},
    Variation{"stops at a step", StopAtAStep},
    Variation{"longer in each launch", TrainLongerEachTime},
    Variation{"changed job between launches", ChangeTheJobBetweenLaunches},
    Variation{"no checkpoint directory", StoreNothing},
    Variation{"curves and an export", WriteOutputs},
};

// Returns all settings that variations change, as text. The texts of two
// set-ups of a base are equal iff no variation distinguishes them.
std::string VariedPart(const Case& setup) {
  const TrainOptions& train = setup.train;
  std::string text = fmt::format(
      "{} {} {} {} {} {} {} {}", JobToJson(train.job, Digest{}),
      static_cast<int>(train.checkpoint.trigger.unit),
      train.checkpoint.trigger.every, train.preemption.grace.count(),
      setup.cluster.max_restarts, static_cast<int>(setup.store),
      setup.outputs.curve_every, setup.outputs.exports);
  for (const LaunchSetup& launch : setup.launches) {
    text += fmt::format(" {} {} {} {}", launch.epochs.value_or(0),
                        launch.max_steps.value_or(0),
                        launch.stop_at_step.value_or(0), launch.changes_job());
  }
  return text;
}

// Returns true iff the base must not be varied in its job: it starts from
// another run's model, has launches, or tests values that are not finite.
bool HasAJobOfItsOwn(const Case& base) {
  return base.before.has_value() || !base.launches.empty() ||
         base.train.on_not_finite != OnNotFinite::kTrainOn ||
         !base.train.start.weights.empty();
}

// Sets limits so that a hang is detected long before the run's time limit,
// faults do not use up the restarts, and a notice is detected while the short
// job runs.
void MakeRoom(Case& setup) {
  ClusterOptions& cluster = setup.train.cluster;
  cluster.lost_after = std::min(
      cluster.lost_after, std::max(kLostAfter, 5 * cluster.heartbeat_every));
  cluster.step_timeout = std::min(cluster.step_timeout, kStepTimeout);
  cluster.save_timeout = std::min(cluster.save_timeout, kSaveTimeout);
  setup.cluster.start_timeout =
      std::min(setup.cluster.start_timeout, kStartTimeout);
  Duration& look = setup.train.preemption.poll_every;
  look = std::min(look, kNoticePollInterval);
  if (setup.cluster.policy == RestartPolicy::kNone) {
    setup.cluster.policy = RestartPolicy::kWholeJob;
  }
  setup.cluster.max_restarts = std::max(setup.cluster.max_restarts, kRestarts);
  setup.cluster.max_requeues =
      std::max(setup.cluster.max_requeues, ClusterSetup().max_requeues);
  setup.timeouts.total = std::max(TotalLimitOf(setup), kTotalLimit);
  // Removes the hang limit of the base, so that one is computed for each plan.
  setup.timeouts.hang.reset();
}

Case WithoutFaults(const Case& base) {
  Case setup = base;
  setup.plan.faults.clear();
  setup.expect = {};
  MakeRoom(setup);
  return setup;
}

}  // namespace

std::vector<std::string> OverridesOf(const Case& base) {
  const Case setup = WithoutFaults(base);
  std::vector<std::string> overrides;
  const auto compare = [&overrides](std::string_view name, const auto& now,
                                    const auto& own) {
    if (now == own) return;
    overrides.push_back(fmt::format("{} {} instead of {}", name, now, own));
  };
  const auto compare_times = [&](std::string_view name, Duration now,
                                 Duration own) {
    compare(name, DurationToText(now), DurationToText(own));
  };
  const ClusterOptions& now = setup.train.cluster;
  const ClusterOptions& own = base.train.cluster;
  compare("restart policy", RestartPolicyName(setup.cluster.policy),
          RestartPolicyName(base.cluster.policy));
  compare("restart max", setup.cluster.max_restarts, base.cluster.max_restarts);
  compare("preemption requeue", setup.cluster.max_requeues,
          base.cluster.max_requeues);
  compare_times("heartbeat lost_after", now.lost_after, own.lost_after);
  compare_times("step_timeout", now.step_timeout, own.step_timeout);
  compare_times("save_timeout", now.save_timeout, own.save_timeout);
  compare_times("start_timeout", setup.cluster.start_timeout,
                base.cluster.start_timeout);
  compare_times("preemption poll_every", setup.train.preemption.poll_every,
                base.train.preemption.poll_every);
  compare_times("timeout total", TotalLimitOf(setup), TotalLimitOf(base));
  return overrides;
}

std::string DescribeSetup(const Case& setup, const Case& base) {
  const CheckpointOptions& checkpoint = setup.train.checkpoint;
  if (checkpoint.keep != base.train.checkpoint.keep) {
    return fmt::format("keep {}", checkpoint.keep);
  }
  if (setup.cluster.workers != base.cluster.workers) {
    return fmt::format("{} worker{}", setup.cluster.workers,
                       setup.cluster.workers == 1 ? "" : "s");
  }
  if (checkpoint.at_success != base.train.checkpoint.at_success) {
    return "checkpoints deleted at success";
  }
  if (setup.cluster.hosts != base.cluster.hosts) return "hosts separate";
  if (setup.cluster.policy == RestartPolicy::kRejoin &&
      base.cluster.policy != RestartPolicy::kRejoin) {
    return "lost workers rejoin";
  }
  const std::string varied = VariedPart(setup);
  for (const Variation& variation : kVariations) {
    Case other = base;
    variation.apply(other);
    const std::string part = VariedPart(other);
    if (part == varied && part != VariedPart(base)) {
      return std::string(variation.name);
    }
  }
  return "as it is";
}

void SetWorkers(int workers, ClusterSetup& cluster) {
  cluster.workers = workers;
  cluster.min_workers = std::min(cluster.min_workers, workers);
  for (int& of_incarnation : cluster.workers_per_attempt) {
    of_incarnation = std::min(of_incarnation, workers);
  }
}

std::vector<Case> SetupsOf(const Case& base) {
  const Case plain = WithoutFaults(base);
  std::vector<Case> setups = {plain};
  for (const int keep : {1, 3}) {
    if (keep == base.train.checkpoint.keep) continue;
    Case& setup = setups.emplace_back(plain);
    setup.train.checkpoint.keep = keep;
  }
  // At least two workers: if a single worker hung, no other one would detect
  // it.
  for (const int workers : {2, 3}) {
    if (workers >= base.cluster.workers) break;
    Case& setup = setups.emplace_back(plain);
    SetWorkers(workers, setup.cluster);
  }
  if (base.train.checkpoint.at_success == AtSuccess::kSaveFinalState) {
    Case& setup = setups.emplace_back(plain);
    setup.train.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  }
  if (base.cluster.hosts == HostsChoice::kOne && base.cluster.workers > 1) {
    Case& setup = setups.emplace_back(plain);
    setup.cluster.hosts = HostsChoice::kSeparate;
  }
  if (base.cluster.policy == RestartPolicy::kWholeJob &&
      base.cluster.workers > 2) {
    Case& setup = setups.emplace_back(plain);
    setup.cluster.policy = RestartPolicy::kRejoin;
    setup.train.cluster.on_loss = OnLoss::kRejoin;
    setup.cluster.min_workers = 2;
  }
  if (HasAJobOfItsOwn(base)) return setups;
  for (const Variation& variation : kVariations) {
    Case setup = plain;
    variation.apply(setup);
    if (VariedPart(setup) != VariedPart(plain)) {
      setups.push_back(std::move(setup));
    }
  }
  return setups;
}

bool CanHappenTo(FaultKind kind, const Case& setup) {
  if (IsNetworkFault(kind)) {
    return HasSomebodyToCutOff(kind,
                               MostWorkersIn(setup.cluster, kAnyIncarnation),
                               setup.cluster.hosts);
  }
  return HasDevice(setup) || !IsOfDevice(kind);
}

PlanSpace SpaceOf(const Case& setup) {
  const Horizon& horizon = setup.train.horizon;
  const uint64_t an_epoch = ShapeOfEpoch(setup.train.job).steps;
  uint64_t steps = std::max<uint64_t>(an_epoch, 1) * horizon.epochs;
  if (horizon.max_steps) steps = std::min(steps, *horizon.max_steps);
  PlanSpace space = {.workers = MostWorkersIn(setup.cluster, kAnyIncarnation),
                     .hosts = setup.cluster.hosts,
                     .at_success = setup.train.checkpoint.at_success,
                     .steps = std::max<uint64_t>(steps, 1),
                     .epochs = std::max<uint64_t>(horizon.epochs, 1),
                     .kinds = {},
                     .points = {}};
  for (const FaultKindInfo& info : AllFaultKinds()) {
    if (CanHappenTo(info.kind, setup)) space.kinds.push_back(info.kind);
  }
  const bool rejoins = setup.cluster.policy == RestartPolicy::kRejoin;
  const bool copies = setup.train.checkpoint.mode != SaveMode::kSync;
  for (const PointInfo& info : AllPoints()) {
    if (info.needs == PointNeeds::kAsyncSaves && !copies) continue;
    if (info.needs == PointNeeds::kDevice && !HasDevice(setup)) continue;
    if (info.needs == PointNeeds::kRejoin && !rejoins) continue;
    if (info.needs == PointNeeds::kExport && !setup.outputs.exports) continue;
    if (setup.store == StoreChoice::kNone && NeedsAStore(info.point)) continue;
    space.points.push_back(info.point);
  }
  return space;
}

}  // namespace gauntlet
