// Recovery, over many plans: every crash that a worker can have, and random
// plans of a few faults within the budget of chaos/inject/plan/plan.h.
#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "harness/explore/trial/plan_runner.h"
#include "tests/property/property.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr char kJob[] = R"(schema: gauntlet/v2
name: recovery
preset: tiny
job:
  model: tiny
  data: {kind: digits, samples: 96, validation_samples: 32, side: 7}
  batch: 4
  replicas: 4
  epochs: 3
cluster:
  workers: 3
  heartbeat: {every: 200ms, lost_after: 1s}
  step_timeout: 3s
  restart: {policy: whole-job, max: 12, backoff: 50ms}
checkpoint: {every: {steps: 5}, keep: 2}
expect: {outcome: completes}
)";

PlanRunner MakeRunner(SaveMode mode,
                      AtSuccess at_success = AtSuccess::kSaveFinalState) {
  static References references("", "test");
  Case one = LoadScenarios(kJob, "recovery.yaml").cases.at(0);
  // Timeout that detects a hang in a save. Virtual time is cheap, but limited.
  one.train.cluster.save_timeout = std::chrono::seconds(5);
  one.train.checkpoint.mode = mode;
  one.train.checkpoint.at_success = at_success;
  return PlanRunner::Make(std::move(one), references).value();
}

const LauncherRun& LastOf(const Record& record) {
  return record.launchers.back();
}

std::string Describe(const FaultPlan& plan, const PlanRun& run) {
  const Record& record = run.record;
  std::string text = PlanToJson(plan) + "\n" + run.verdict.reason;
  for (const Finding& finding : run.findings) {
    text += fmt::format("\n  {}: {}", finding.invariant, finding.message);
  }
  for (const std::string& line : run.verdict.timeline) text += "\n  " + line;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.events.empty()) continue;
    const RecordEvent& last = incarnation.events.back();
    text += fmt::format("\n  worker {} incarnation {} last: {} {} {}",
                        incarnation.worker, incarnation.number,
                        RecordKindName(last.kind), last.count, last.detail);
  }
  if (!record.launchers.empty()) {
    text += fmt::format("\n  exit code {}", LastOf(record).exit_code);
  }
  return text;
}

// Tries plans one by one, and counts those whose faults all fired.
class Sweep {
 public:
  explicit Sweep(PlanRunner runner) : runner_(std::move(runner)) {}

  void Try(const FaultPlan& plan) {
    const PlanRun run = runner_.Try(plan);
    EXPECT_TRUE(run.findings.empty()) << Describe(plan, run);
    if (run.record.faults.size() == plan.faults.size()) ++fired_;
  }
  int fired() const { return fired_; }

 private:
  PlanRunner runner_;
  int fired_ = 0;
};

// Tests with synchronous saves, asynchronous saves, and asynchronous saves
// without a copy.
class RecoverySweep : public testing::TestWithParam<SaveMode> {};
class RecoveryProperty : public testing::TestWithParam<SaveMode> {};

std::string NameOf(const testing::TestParamInfo<SaveMode>& mode) {
  switch (mode.param) {
    case SaveMode::kSync:
      return "sync";
    case SaveMode::kAsync:
      return "async";
    case SaveMode::kZeroCopy:
      return "zero_copy";
  }
  return "";
}

std::string PropertyNameOf(SaveMode mode) {
  switch (mode) {
    case SaveMode::kSync:
      return "recovery";
    case SaveMode::kAsync:
      return "recovery-beside";
    case SaveMode::kZeroCopy:
      return "recovery-zero-copy";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Saves, RecoverySweep,
                         testing::Values(SaveMode::kSync, SaveMode::kAsync,
                                         SaveMode::kZeroCopy),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Saves, RecoveryProperty,
                         testing::Values(SaveMode::kSync, SaveMode::kAsync,
                                         SaveMode::kZeroCopy),
                         NameOf);

// Returns the site of the worker's `hit`-th occurrence of the point. If the
// point has blocks, the occurrences in all blocks are counted together.
FaultSite EachHit(int worker, Point point, uint64_t hit) {
  return {.worker = worker,
          .point = point,
          .occurrence = hit,
          .block = HasBlocks(point) ? kAnyBlock : 0};
}

// Crashes worker 0 or 1 at each of its first three occurrences of each point.
TEST_P(RecoverySweep, EveryCrashOfOneWorkerIsRecoveredFrom) {
  Sweep sweep(MakeRunner(GetParam()));
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      for (uint64_t hit = 1; hit <= 3; ++hit) {
        sweep.Try({.faults = {{.id = "crash",
                               .site = EachHit(worker, info.point, hit)}}});
      }
    }
  }
  EXPECT_GT(sweep.fired(), 100);
}

// Faults fire in the second attempt, after a crash: during recovery.
TEST_P(RecoverySweep, EveryCrashDuringARecoveryIsRecoveredFrom) {
  Sweep sweep(MakeRunner(GetParam()));
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      sweep.Try(
          {.faults = {
               {.id = "first",
                .site = {.worker = 2, .step = 10, .point = Point::kStepBegin}},
               {.id = "second",
                .site = {.worker = worker,
                         .incarnation = 2,
                         .point = info.point},
                .after = "first"}}});
    }
  }
  EXPECT_GT(sweep.fired(), 50);
}

TEST_P(RecoverySweep, EveryPowerLossIsRecoveredFrom) {
  Sweep sweep(MakeRunner(GetParam()));
  for (const PointInfo& info : AllPoints()) {
    for (uint64_t hit = 1; hit <= 3; ++hit) {
      sweep.Try({.seed = hit,
                 .faults = {{.id = "dark",
                             .site = EachHit(kChief, info.point, hit),
                             .kind = FaultKind::kPowerLoss}}});
    }
  }
  EXPECT_GT(sweep.fired(), 80);
}

TEST_P(RecoverySweep, EveryErrorOnceIsRecoveredFrom) {
  Sweep sweep(MakeRunner(GetParam()));
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      for (uint64_t hit = 1; hit <= 3; ++hit) {
        sweep.Try({.faults = {{.id = "error",
                               .site = EachHit(worker, info.point, hit),
                               .kind = FaultKind::kErrno,
                               .with = {.error = EIO}}}});
      }
    }
  }
  EXPECT_GT(sweep.fired(), 100);
}

// Once the result is reported, the run is complete even if the deletion is not.
// Until then, a restart must find the newest checkpoint.
TEST_P(RecoverySweep, CrashWhileTheBackupIsDeletedTakesNothingAway) {
  PlanRunner runner = MakeRunner(GetParam(), AtSuccess::kDeleteCheckpoints);
  for (const Point point : {Point::kFinish, Point::kBackupDelete,
                            Point::kRetireRename, Point::kRetireRemove}) {
    for (uint64_t hit = 1; hit <= 20; ++hit) {
      const FaultPlan plan = {
          .faults = {
              {.id = "crash",
               .site = {.worker = 0, .point = point, .occurrence = hit}}}};
      const Record record = runner.Try(plan).record;
      ASSERT_TRUE(LastOf(record).result) << PlanToJson(plan);
      EXPECT_EQ(LastOf(record).result->digest, record.golden.final_digest)
          << PlanToJson(plan);
      EXPECT_LE(record.launchers.back().restarts, 1u) << PlanToJson(plan);
    }
  }
}

rc::Gen<Point> PointBetween(Point first, Point last) {
  return rc::gen::map(
      rc::gen::inRange(static_cast<int>(first), static_cast<int>(last) + 1),
      [](int point) { return static_cast<Point>(point); });
}

rc::Gen<Point> WritePoint() {
  return rc::gen::element(Point::kShardWrite, Point::kIndexWrite,
                          Point::kManifestWrite, Point::kStateWrite);
}

// Returns a fault within the budget of chaos/inject/plan/plan.h. If bit flips
// have damaged all checkpoints, the run must refuse instead of recovering.
rc::Gen<Fault> BudgetedFault() {
  return rc::gen::exec([] {
    Fault fault;
    fault.kind = *rc::gen::element(
        FaultKind::kCrash, FaultKind::kKill, FaultKind::kException,
        FaultKind::kHang, FaultKind::kPause, FaultKind::kSlow,
        FaultKind::kPreempt, FaultKind::kTornWrite, FaultKind::kErrno,
        FaultKind::kFsyncFails, FaultKind::kBitFlip, FaultKind::kPowerLoss);
    fault.site = {.worker = *rc::gen::element(0, 1, 2, kChief, kAnyWorker),
                  .incarnation = *rc::gen::element(1, 1, 2, kAnyIncarnation),
                  .point = *PointBetween(Point::kStepBegin, Point::kFinish),
                  .occurrence = *rc::gen::inRange<uint64_t>(1, 5)};
    FaultParameters& with = fault.with;
    switch (fault.kind) {
      case FaultKind::kKill:
        if (*rc::gen::arbitrary<bool>()) with.kill_latency = Duration(0);
        break;
      case FaultKind::kSlow:
        with.latency = std::chrono::milliseconds(*rc::gen::inRange(1, 800));
        break;
      case FaultKind::kHang:
      case FaultKind::kPause:
        with.duration = std::chrono::milliseconds(*rc::gen::element(0, 300));
        break;
      case FaultKind::kPreempt:
        with.grace = std::chrono::seconds(10);
        break;
      case FaultKind::kTornWrite:
        fault.site.point = *WritePoint();
        with.blocks = 4;
        with.keep = *rc::gen::inRange<uint64_t>(0, 15);
        with.then = *rc::gen::element(AfterTear::kCrash, AfterTear::kPowerLoss);
        break;
      case FaultKind::kErrno:
        with.error = *rc::gen::element(EIO, ENOSPC);
        break;
      case FaultKind::kFsyncFails:
        fault.site.point = *rc::gen::element(
            Point::kShardSync, Point::kManifestSync, Point::kTmpDirSync,
            Point::kParentSync, Point::kStateSync);
        break;
      case FaultKind::kBitFlip:
        fault.site.point =
            *rc::gen::oneOf(WritePoint(), rc::gen::just(Point::kLoadRead));
        with.offset = {*rc::gen::inRange<uint64_t>(0, 101),
                       OffsetUnit::kPercent};
        with.bit = *rc::gen::inRange(0, 8);
        break;
      default:
        break;
    }
    if (HasBlocks(fault.site.point)) fault.site.block = kAnyBlock;
    return fault;
  });
}

// Returns a plan of up to three faults.
rc::Gen<FaultPlan> BudgetedPlan() {
  return rc::gen::exec([] {
    FaultPlan plan;
    plan.seed = *rc::gen::inRange<uint64_t>(0, 1000);
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) {
      plan.faults.push_back(*BudgetedFault());
      plan.faults.back().id = fmt::format("fault-{}", i);
    }
    return plan;
  });
}

TEST_P(RecoveryProperty, EveryPlanWithinTheBudgetRecovers) {
  PlanRunner runner = MakeRunner(GetParam());
  size_t tried = 0;
  size_t fired = 0;
  CheckProperty<FaultPlan>({.name = PropertyNameOf(GetParam()),
                            .any = BudgetedPlan(),
                            .to_text = PlanToJson,
                            .from_text = PlanFromJson,
                            .wrong = [&](const FaultPlan& plan) -> std::string {
                              const PlanRun run = runner.Try(plan);
                              ++tried;
                              fired += run.record.faults.size();
                              return run.findings.empty() ? ""
                                                          : Describe(plan, run);
                            }});
  if (OnlyOneIsTried()) return;
  EXPECT_GT(fired, tried / 2);
}

}  // namespace
}  // namespace gauntlet
