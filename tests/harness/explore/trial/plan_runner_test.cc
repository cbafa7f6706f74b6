#include "harness/explore/trial/plan_runner.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "harness/explore/trial/case_pool.h"
#include "harness/explore/trial/case_report.h"
#include "harness/explore/trial/expected_outcome.h"
#include "harness/oracle/judge.h"
#include "harness/run/files/text_file.h"

namespace gauntlet {
namespace {

Case LoadBase() {
  const std::string file =
      std::filesystem::path(GAUNTLET_SCENARIOS) / "explore/base.yaml";
  return LoadScenarios(ReadTextFile(file), file).cases.at(0);
}

PlanRunner MakeRunner() {
  static References references("", "test");
  return PlanRunner::Make(LoadBase(), references).value();
}

FaultPlan PlanOf(Fault fault) {
  fault.id = "fault";
  return {.faults = {std::move(fault)}};
}

std::string MessagesOf(const PlanRun& run) {
  std::string text;
  for (const Finding& finding : run.findings) text += finding.message + "\n";
  return text;
}

bool Has(const Record& record, RecordKind kind) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == kind) return true;
    }
  }
  return false;
}

// Interrupts a run at several places. Then runs a case twice, and interrupts
// the first run, the second run, or neither.
TEST(PlanRunnerTest, InterruptedRun_IsNotJudged) {
  References references("", "test");
  PlanRunner runner = PlanRunner::Make(LoadBase(), references).value();
  uint64_t asked = 0;
  uint64_t limit = UINT64_MAX;
  runner.CutBy([&] { return ++asked > limit; });
  EXPECT_FALSE(runner.Try({}).cut);
  const uint64_t whole = std::exchange(asked, 0);
  ASSERT_GT(whole, 1000u);
  for (const uint64_t at : {uint64_t{0}, whole / 2, whole - 1}) {
    limit = at;
    asked = 0;
    const PlanRun run = runner.Try({});
    EXPECT_TRUE(run.cut) << at;
    EXPECT_TRUE(run.findings.empty()) << at;
    EXPECT_LT(asked, at + 100) << "and it ends then";
  }
  // If only the second run is cut short, the result of the first one is kept.
  for (const uint64_t at : {whole / 2, whole + whole / 2, UINT64_MAX}) {
    limit = at;
    asked = 0;
    const CaseReport report = Examine(runner, {.number = 7}, Runs::kTwice);
    EXPECT_EQ(report.number, 7u);
    EXPECT_EQ(report.cut, at < whole) << at;
    EXPECT_EQ(report.outcome, at < whole ? "" : "completes") << at;
    EXPECT_EQ(report.ran_twice, at == UINT64_MAX) << at;
    EXPECT_TRUE(report.findings.empty()) << at;
  }
}

// The report states that the case was cut short, and the next case does not
// begin.
TEST(CasePoolTest, Cut_EndsTheRunningCase) {
  References references("", "test");
  const std::vector<Case> setups = {LoadBase()};
  ASSERT_TRUE(PlanRunner::Make(setups[0], references).ok());
  CasePool* pool = nullptr;
  CasePool one(setups, references, {.name_of = [&pool](const ExploreCase&) {
                 pool->Cut();
                 return "a case";
               }});
  pool = &one;
  one.Begin({{.number = 0}, {.number = 1}});
  std::optional<CaseReport> report;
  while (!report) report = one.Take(0, std::chrono::seconds(1));
  EXPECT_TRUE(report->cut);
  EXPECT_FALSE(one.WillRun(1));
  while (!one.Pause(std::chrono::seconds(1))) {
  }
}

// If the second run took the result of a pass from the memo of the first, it
// would allocate no memory, and the fault would not fire.
TEST(PlanRunnerTest, MemoryRunsOutInARunLikeTheOneBefore) {
  Case base = LoadBase();
  base.train.kernels.device = DeviceKind::kEmulated;
  References references("", "test");
  PlanRunner runner = PlanRunner::Make(base, references).value();
  const FaultPlan plan =
      PlanOf({.site = {.worker = kChief, .point = Point::kEvalBegin},
              .kind = FaultKind::kOutOfMemory});
  const PlanRun first = runner.Try(plan);
  EXPECT_EQ(first.record.faults.size(), 1u) << MessagesOf(first);
  EXPECT_EQ(runner.Try(plan).event_digest, first.event_digest);
}

TEST(PlanRunnerTest, ErrorOfAnyKindIsRecoveredFrom) {
  PlanRunner runner = MakeRunner();
  for (const FaultErrorInfo& error : AllFaultErrors()) {
    for (const Point point : {Point::kClaimRecord, Point::kShardOpen,
                              Point::kRename, Point::kStateRename}) {
      const PlanRun run =
          runner.Try(PlanOf({.site = {.worker = kChief, .point = point},
                             .kind = FaultKind::kErrno,
                             .with = {.error = error.number}}));
      EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
    }
  }
}

TEST(PlanRunnerTest, DeletedClaimFile_IsRecovered) {
  PlanRunner runner = MakeRunner();
  const PlanRun run = runner.Try(
      PlanOf({.site = {.worker = kChief, .point = Point::kClaimRecord},
              .kind = FaultKind::kDelete}));
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
}

TEST(PlanRunnerTest, SaveThatFailsAtItsBeginningIsReported) {
  PlanRunner runner = MakeRunner();
  const PlanRun run =
      runner.Try(PlanOf({.site = {.worker = kChief, .point = Point::kSaveBegin},
                         .kind = FaultKind::kErrno}));
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
  EXPECT_TRUE(Has(run.record, RecordKind::kSaveFailed));
}

TEST(PlanRunnerTest, WithoutAFaultNothingIsToBeRestarted) {
  Record record;
  record.launchers.push_back({.restarts = 1});
  EXPECT_EQ(ExpectedOutcome(record), Outcome::kCompletes);
  record.faults.push_back({.id = "crash", .kind = "crash"});
  EXPECT_EQ(ExpectedOutcome(record), Outcome::kRecovers);
}

TEST(PlanRunnerTest, PastErrorIsNoReasonToGiveUp) {
  Record record;
  record.launchers.push_back({.exit_code = 1});
  record.faults.push_back({.id = "no", .kind = "errno", .always = true});
  IncarnationEvents& incarnation = record.incarnations.emplace_back();
  incarnation.events = {{.kind = RecordKind::kFaultFired, .detail = "no"},
                        {.kind = RecordKind::kStep, .step = 6}};
  EXPECT_TRUE(MayGiveUp(record));
  record.faults[0].until_step = 7;
  EXPECT_TRUE(MayGiveUp(record));
  record.faults[0].until_step = 6;
  EXPECT_FALSE(MayGiveUp(record));
  // A fault that was armed earlier may take effect later.
  std::swap(incarnation.events[0], incarnation.events[1]);
  EXPECT_TRUE(MayGiveUp(record));
}

TEST(PlanRunnerTest, FinishedRunThatCannotDeleteMayEndWithAnError) {
  Record record;
  record.launchers.push_back({.exit_code = 1});
  IncarnationEvents& incarnation = record.incarnations.emplace_back();
  incarnation.events = {{.kind = RecordKind::kFinished}};
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_FALSE(MayGiveUp(record)) << "before " << id;
    record.faults.push_back({.id = id, .kind = "errno"});
    incarnation.events.push_back(
        {.kind = RecordKind::kFaultFired, .detail = id});
  }
  EXPECT_TRUE(MayGiveUp(record));
  std::swap(incarnation.events[0], incarnation.events[1]);
  EXPECT_FALSE(MayGiveUp(record)) << "one met a save";
}

TEST(PlanRunnerTest,
     PermanentPacketLoss_MayExhaustTheRestarts_IfWorkersRejoin) {
  Record record;
  record.launchers.push_back({.exit_code = 1});
  record.faults.push_back({.id = "lossy", .kind = "packet_loss"});
  record.setup.rejoins = true;
  EXPECT_FALSE(MayGiveUp(record));
  record.faults[0].for_ever = true;
  EXPECT_TRUE(MayGiveUp(record));
  record.setup.rejoins = false;
  EXPECT_FALSE(MayGiveUp(record));
}

TEST(PlanRunnerTest, FailingSyncIsOverOnceALaterSaveIs) {
  Record record;
  record.launchers.push_back({.exit_code = 1});
  record.faults.push_back(
      {.id = "no", .kind = "fsync_fails", .always = true, .until_step = 6});
  IncarnationEvents& incarnation = record.incarnations.emplace_back();
  incarnation.events = {{.kind = RecordKind::kFaultFired, .detail = "no"},
                        {.kind = RecordKind::kStep, .step = 6}};
  EXPECT_TRUE(MayGiveUp(record));
  incarnation.events.push_back({.kind = RecordKind::kSaveFailed});
  EXPECT_TRUE(MayGiveUp(record));
  incarnation.events.push_back({.kind = RecordKind::kStep, .step = 7});
  EXPECT_FALSE(MayGiveUp(record));
  incarnation.events.resize(2);
  incarnation.events.push_back({.kind = RecordKind::kSaveAcknowledged});
  EXPECT_FALSE(MayGiveUp(record));
}

TEST(PlanRunnerTest, ErrorAtEveryHitMayEndTheRun) {
  PlanRunner runner = MakeRunner();
  const PlanRun run =
      runner.Try(PlanOf({.site = {.worker = 1,
                                  .incarnation = kAnyIncarnation,
                                  .point = Point::kDataNext},
                         .kind = FaultKind::kErrno,
                         .with = {.times = FaultTimes::kAlways}}));
  EXPECT_NE(run.record.launchers.back().exit_code, 0);
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
}

// The error ends with its incarnation, so the run must continue after the
// crashes.
TEST(PlanRunnerTest, ErrorAtEveryHitOfAnEarlierIncarnationExcusesNoEnd) {
  static References references("", "test");
  Case base = LoadBase();
  base.cluster.max_restarts = 2;
  PlanRunner runner = PlanRunner::Make(base, references).value();
  const FaultPlan plan = {
      .faults = {{.id = "error",
                  .site = {.worker = 1, .point = Point::kDataNext},
                  .kind = FaultKind::kErrno,
                  .with = {.times = FaultTimes::kAlways}},
                 {.id = "crash", .site = {.worker = 0, .incarnation = 2}},
                 {.id = "again", .site = {.worker = 0, .incarnation = 3}}}};
  const PlanRun run = runner.Try(plan);
  ASSERT_NE(run.record.launchers.back().exit_code, 0);
  EXPECT_FALSE(run.findings.empty());
}

// Returns a run that crashes after two saves, with a flipped bit in the newer
// one.
Record DamagedRun() {
  PlanRunner runner = MakeRunner();
  return runner
      .Try({.faults = {{.id = "rot",
                        .site = {.worker = 0,
                                 .point = Point::kShardWrite,
                                 .occurrence = 2},
                        .kind = FaultKind::kBitFlip},
                       {.id = "crash", .site = {.worker = 0, .step = 13}}}})
      .record;
}

bool Breaks(const Record& record, std::string_view invariant) {
  return std::ranges::any_of(
      Judge(record).invariants, [&](const InvariantReport& report) {
        return report.invariant == invariant && report.violations > 0;
      });
}

TEST(ExpectedOutcomeTest, RefusalIsUnexpected_WhenAValidCheckpointIsLeft) {
  Record record = DamagedRun();
  ASSERT_EQ(record.faults.size(), 2u);
  EXPECT_EQ(ExpectedOutcome(record), Outcome::kRecovers);
  record.launchers.back() = {.exit_code = 7};
  record.expect.outcome = ExpectedOutcome(record);
  EXPECT_TRUE(Breaks(record, "clean-refusal"));
}

TEST(ExpectedOutcomeTest, RefusalIsExpected_WhenEveryCheckpointIsDamaged) {
  Record record = DamagedRun();
  for (RecordFault& fault : record.faults) {
    if (fault.kind == "bit_flip") fault.always = true;
  }
  for (IncarnationEvents& incarnation : record.incarnations) {
    std::erase_if(incarnation.events, [](const RecordEvent& event) {
      return event.kind == RecordKind::kSaveAcknowledged;
    });
  }
  record.launchers.back() = {.exit_code = 7};
  EXPECT_EQ(ExpectedOutcome(record), Outcome::kRefuses);
}

// The run finishes while its launcher cannot reach it.
TEST(ExpectedOutcomeTest, UnacknowledgedFinish_MustBeRecovered) {
  const std::string file = std::filesystem::path(GAUNTLET_SCENARIOS) /
                           "network/finishes-out-of-sight.yaml";
  const Case one = LoadScenarios(ReadTextFile(file), file).cases.at(0);
  References references("", "test");
  PlanRunner runner = PlanRunner::Make(one, references).value();
  const PlanRun run = runner.Try(one.plan);
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
  EXPECT_EQ(ExpectedOutcome(run.record), Outcome::kRecovers)
      << "nobody acknowledged its result, so it deleted nothing";
}

TEST(ExpectedOutcomeTest, ExpectsARecovery_WhenTheEngineGaveUpWithoutARestart) {
  Record record = DamagedRun();
  record.launchers.back() = {.exit_code = 1};
  EXPECT_EQ(ExpectedOutcome(record), Outcome::kRecovers);
}

TEST(PlanRunnerTest, TooShortGrace_IsNoViolation) {
  PlanRunner runner = MakeRunner();
  const PlanRun run =
      runner.Try(PlanOf({.site = {.worker = 0, .point = Point::kEpochEnd},
                         .kind = FaultKind::kPreempt,
                         .with = {.grace = std::chrono::milliseconds(1)}}));
  EXPECT_TRUE(Has(run.record, RecordKind::kFaultFired));
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
}

TEST(PlanRunnerTest, KillAfterTheEnd_IsNoViolation) {
  PlanRunner runner = MakeRunner();
  const PlanRun run =
      runner.Try(PlanOf({.site = {.worker = 0, .point = Point::kEpochEnd},
                         .kind = FaultKind::kKill,
                         .with = {.kill_latency = std::chrono::hours(1)}}));
  EXPECT_TRUE(Has(run.record, RecordKind::kFaultFired));
  EXPECT_TRUE(run.findings.empty()) << MessagesOf(run);
}

}  // namespace
}  // namespace gauntlet
