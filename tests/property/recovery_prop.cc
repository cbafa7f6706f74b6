// Recovery, over many plans: every crash that one worker can have, and random
// plans of a few faults within the budget of chaos/inject/plan.h.
#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "harness/oracle/judge.h"
#include "harness/run/case_runner.h"
#include "harness/run/sim_run.h"
#include "harness/scenario/run_setup.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr char kJob[] = R"(schema: gauntlet/v1
name: recovery
use: tiny
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

// Runs plans of one job; the reference run is made once.
class Laboratory {
 public:
  Laboratory() : case_(LoadScenarios(kJob, "recovery.yaml").cases.at(0)) {
    // A hang in a save shows after this long; virtual time is cheap, but the
    // run has an end.
    case_.train.cluster.save_timeout = std::chrono::seconds(5);
  }

  void DeleteAtSuccess() {
    case_.train.checkpoint.at_success = AtSuccess::kDeleteCheckpoints;
  }

  Record Run(const FaultPlan& plan) {
    Case one = case_;
    one.plan = plan;
    const RunPlan run = PlanOf(one);
    RunLog log = RunSimulated(pool_, run,
                              *references_.DataOf(one.train.job.data).value());
    Record record = RecordHead(one);
    record.world = "sim";
    record.golden = *references_.GoldenFor(run).value();
    record.lives = std::move(log.lives);
    record.launchers = std::move(log.launchers);
    record.ending = log.ending;
    record.ending_detail = log.ending_detail;
    record.virtual_seconds = log.virtual_seconds;
    record.left = std::move(log.left);
    return record;
  }

 private:
  Case case_;
  References references_{"", "test"};
  FiberPool pool_;
};

constexpr int kNoCheckpoint = 7;

const LauncherRun& LastOf(const Record& record) {
  return record.launchers.back();
}

bool Fired(const Record& record, const std::string& fault) {
  for (const LifeEvents& life : record.lives) {
    for (const RecordEvent& event : life.events) {
      if (event.kind == RecordKind::kFaultFired && event.detail == fault) {
        return true;
      }
    }
  }
  return false;
}

// Faults of a plan need not all be reached: those that were are the plan that
// the run had.
void ForgetUnfired(Record& record) {
  std::erase_if(record.faults, [&](const RecordFault& fault) {
    return !Fired(record, fault.id);
  });
}

std::string Describe(const Record& record, const Verdict& verdict) {
  std::string text = record.plan_json + "\n" + verdict.reason;
  for (const InvariantReport& report : verdict.invariants) {
    for (const Finding& finding : report.findings) {
      text += fmt::format("\n  {}: {}", report.invariant, finding.message);
    }
  }
  for (const std::string& line : verdict.story) text += "\n  " + line;
  for (const LifeEvents& life : record.lives) {
    if (life.events.empty()) continue;
    const RecordEvent& last = life.events.back();
    text += fmt::format("\n  worker {} life {} last: {} {} {}", life.worker,
                        life.life, RecordKindName(last.kind), last.count,
                        last.detail);
  }
  if (!record.launchers.empty()) {
    text += fmt::format("\n  exit code {}", LastOf(record).exit_code);
  }
  return text;
}

// Which of the oracle's invariants count. Where faults meet, one may take away
// another's effect, its grace and its detection; all else holds of any plan.
enum class Judged { kAll, kWhereFaultsMeet };

bool Counts(std::string_view invariant, Judged judged) {
  return judged == Judged::kAll ||
         (invariant != "fault-fired" && invariant != "grace" &&
          invariant != "detection");
}

// What is to come of a run that had these restarts, or may refuse to go on
// where silent damage has taken every copy. (Whether it has is the oracle's
// to say.)
Outcome OutcomeOf(const Record& record) {
  uint64_t restarts = record.launchers.size() - 1;
  for (const LauncherRun& run : record.launchers) restarts += run.restarts;
  const bool damaged = std::any_of(
      record.faults.begin(), record.faults.end(),
      [](const RecordFault& fault) { return fault.kind == "bit_flip"; });
  if (damaged && LastOf(record).exit_code == kNoCheckpoint) {
    return Outcome::kRefuses;
  }
  return restarts > 0 ? Outcome::kRecovers : Outcome::kCompletes;
}

// "" if the run came to a good end: done with the reference's state, or a
// refusal that is owed, and nothing that the oracle minds.
std::string WhatIsWrong(Record record, Judged judged) {
  if (record.launchers.empty()) return record.plan_json + "\nno launcher ended";
  ForgetUnfired(record);
  record.expect.outcome = OutcomeOf(record);
  const Verdict verdict = Judge(record);
  bool good = verdict.broken_expectations.empty();
  for (const InvariantReport& report : verdict.invariants) {
    if (report.breaches > 0 && Counts(report.invariant, judged)) good = false;
  }
  const std::optional<FinalResult>& result = LastOf(record).result;
  if (record.expect.outcome != Outcome::kRefuses &&
      (!result || result->digest != record.golden.final_digest)) {
    good = false;
  }
  return good ? "" : Describe(record, verdict);
}

void ExpectRecovery(const Record& record, Judged judged) {
  const std::string wrong = WhatIsWrong(record, judged);
  EXPECT_TRUE(wrong.empty()) << wrong;
}

// Each (point, worker, hit) that is reached at all: one crash there.
void SweepCrashes(Laboratory& laboratory) {
  int fired = 0;
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      for (uint64_t hit = 1; hit <= 3; ++hit) {
        const FaultPlan plan = {
            .faults = {
                {.id = "crash",
                 .site = {.worker = worker, .point = info.point, .hit = hit}}}};
        const Record record = laboratory.Run(plan);
        if (Fired(record, "crash")) ++fired;
        ExpectRecovery(record, Judged::kAll);
      }
    }
  }
  EXPECT_GT(fired, 100);
}

TEST(RecoverySweep, EveryCrashOfOneWorkerIsRecoveredFrom) {
  Laboratory laboratory;
  SweepCrashes(laboratory);
}

// In the second life, after a crash: faults during recovery.
TEST(RecoverySweep, EveryCrashDuringARecoveryIsRecoveredFrom) {
  Laboratory laboratory;
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      const FaultPlan plan = {
          .faults = {
              {.id = "first",
               .site = {.worker = 2, .step = 10, .point = Point::kStepBegin}},
              {.id = "second",
               .site = {.worker = worker, .life = 2, .point = info.point},
               .after = "first"}}};
      ExpectRecovery(laboratory.Run(plan), Judged::kAll);
    }
  }
}

TEST(RecoverySweep, EveryPowerLossIsRecoveredFrom) {
  Laboratory laboratory;
  for (const PointInfo& info : AllPoints()) {
    for (uint64_t hit = 1; hit <= 3; ++hit) {
      const FaultPlan plan = {
          .seed = hit,
          .faults = {
              {.id = "dark",
               .site = {.worker = kChief, .point = info.point, .hit = hit},
               .kind = FaultKind::kPowerLoss}}};
      ExpectRecovery(laboratory.Run(plan), Judged::kAll);
    }
  }
}

TEST(RecoverySweep, EveryErrorOnceIsRecoveredFrom) {
  Laboratory laboratory;
  for (const PointInfo& info : AllPoints()) {
    for (const int worker : {0, 1}) {
      for (uint64_t hit = 1; hit <= 3; ++hit) {
        const FaultPlan plan = {
            .faults = {
                {.id = "error",
                 .site = {.worker = worker, .point = info.point, .hit = hit},
                 .kind = FaultKind::kErrno,
                 .with = {.error = EIO}}}};
        ExpectRecovery(laboratory.Run(plan), Judged::kAll);
      }
    }
  }
}

// With the result said, the run is done, whatever else is; without it, a
// restart finds the newest checkpoint until the last moment.
TEST(RecoverySweep, ACrashWhileTheBackupIsDeletedTakesNothingAway) {
  Laboratory laboratory;
  laboratory.DeleteAtSuccess();
  for (const Point point : {Point::kFinish, Point::kBackupDelete,
                            Point::kRetireRename, Point::kRetireRemove}) {
    for (uint64_t hit = 1; hit <= 20; ++hit) {
      const FaultPlan plan = {
          .faults = {{.id = "crash",
                      .site = {.worker = 0, .point = point, .hit = hit}}}};
      const Record record = laboratory.Run(plan);
      ASSERT_TRUE(LastOf(record).result) << record.plan_json;
      EXPECT_EQ(LastOf(record).result->digest, record.golden.final_digest)
          << record.plan_json;
      EXPECT_LE(record.launchers.back().restarts, 1u) << record.plan_json;
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

// Faults whose budget leaves a run that recovers, whatever else there is; bit
// flips aside, which may take every copy.
rc::Gen<Fault> BudgetedFault() {
  return rc::gen::exec([] {
    Fault fault;
    fault.kind = *rc::gen::element(
        FaultKind::kCrash, FaultKind::kKill, FaultKind::kException,
        FaultKind::kHang, FaultKind::kStop, FaultKind::kSlow,
        FaultKind::kPreempt, FaultKind::kTornWrite, FaultKind::kErrno,
        FaultKind::kFsyncFails, FaultKind::kBitFlip, FaultKind::kPowerLoss);
    fault.site = {.worker = *rc::gen::element(0, 1, 2, kChief, kAnyWorker),
                  .life = *rc::gen::element(1, 1, 2, kAnyLife),
                  .point = *PointBetween(Point::kStepBegin, Point::kFinish),
                  .hit = *rc::gen::inRange<uint64_t>(1, 5)};
    FaultParameters& with = fault.with;
    switch (fault.kind) {
      case FaultKind::kSlow:
        with.latency = std::chrono::milliseconds(*rc::gen::inRange(1, 800));
        break;
      case FaultKind::kHang:
      case FaultKind::kStop:
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
    return fault;
  });
}

// Up to three faults.
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

// The simplest plan that still goes wrong, found step by step.
std::string Simplest(Laboratory& laboratory, rc::Shrinkable<FaultPlan> plan) {
  std::string wrong =
      WhatIsWrong(laboratory.Run(plan.value()), Judged::kWhereFaultsMeet);
  for (bool simpler = true; simpler;) {
    simpler = false;
    auto shrinks = plan.shrinks();
    while (auto next = shrinks.next()) {
      std::string there =
          WhatIsWrong(laboratory.Run(next->value()), Judged::kWhereFaultsMeet);
      if (there.empty()) continue;
      wrong = std::move(there);
      plan = *next;
      simpler = true;
      break;
    }
  }
  return wrong;
}

// A plan is a function of its number: what fails once fails again.
TEST(RecoveryProperty, EveryPlanWithinTheBudgetRecovers) {
  constexpr uint64_t kPlans = 400;
  Laboratory laboratory;
  size_t fired = 0;
  for (uint64_t number = 0; number < kPlans; ++number) {
    const rc::Shrinkable<FaultPlan> plan =
        BudgetedPlan()(rc::Random(number), rc::kNominalSize);
    const Record record = laboratory.Run(plan.value());
    if (!WhatIsWrong(record, Judged::kWhereFaultsMeet).empty()) {
      FAIL() << "plan " << number << "\n" << Simplest(laboratory, plan);
    }
    for (const RecordFault& fault : record.faults) {
      if (Fired(record, fault.id)) ++fired;
    }
  }
  EXPECT_GT(fired, kPlans / 2);
}

}  // namespace
}  // namespace gauntlet
