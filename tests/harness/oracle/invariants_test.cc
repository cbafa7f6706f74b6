#include "harness/oracle/invariants.h"

#include <algorithm>
#include <functional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/oracle/evidence.h"
#include "harness/record/invariants.h"
#include "tests/harness/oracle/record_builder.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using K = RecordKind;

TEST(InvariantTableTest, HasTheNamesOfTheRecordLibraryInOrder) {
  const auto infos = AllInvariants();
  const auto table = InvariantTable();
  ASSERT_EQ(table.size(), infos.size());
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].name, infos[i].name);
  }
}

struct GoodRun {
  const char* name;
  Record (*run)();
};

class GoodRunTest : public testing::TestWithParam<GoodRun> {};

TEST_P(GoodRunTest, BreaksNoInvariant) {
  const Record record = GetParam().run();
  for (const Invariant& invariant : InvariantTable()) {
    const InvariantReport report = ReportOf(record, invariant.name);
    for (const Finding& finding : report.findings) {
      ADD_FAILURE() << invariant.name << ": " << finding.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoodRunTest,
                         testing::Values(GoodRun{"Undisturbed", UndisturbedRun},
                                         GoodRun{"Recovered", RecoveredRun},
                                         GoodRun{"Rejoined", RejoinedRun},
                                         GoodRun{"Preempted", PreemptedRun},
                                         GoodRun{"TwoPhases", TwoPhasesRun},
                                         GoodRun{"FinishedUnseen",
                                                 RunThatFinishedUnseen},
                                         GoodRun{"Refused", RefusedRun}),
                         [](const auto& one) { return one.param.name; });

// How a run is spoiled, and which breach of which invariant that must be.
struct Spoiled {
  const char* invariant;
  const char* breach;
  Record (*run)();
  std::function<void(Record&)> spoil;
};

void PrintTo(const Spoiled& spoiled, std::ostream* out) {
  *out << spoiled.invariant << "/" << spoiled.breach;
}

class SpoiledRunTest : public testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledRunTest, IsCaughtByTheInvariantThatItBreaks) {
  const Spoiled& spoiled = GetParam();
  Record record = spoiled.run();
  ASSERT_GT(ReportOf(record, spoiled.invariant).instances, 0u)
      << "the good run has nothing to check";
  spoiled.spoil(record);
  const InvariantReport report = ReportOf(record, spoiled.invariant);
  EXPECT_GT(report.breaches, 0u);
  EXPECT_THAT(report.findings, testing::Contains(testing::Field(
                                   &Finding::name, spoiled.breach)));
}

const std::string kOtherDigest(32, 'f');

// Both workers carry on from that step instead.
void CarryOnFrom(Record& record, uint64_t step) {
  EventOf(record, 0, 1, K::kCarriedOn, 0).step = step;
  EventOf(record, 1, 2, K::kCarriedOn, 0).step = step;
}

const Spoiled kSpoiled[] = {
    {"bounded-loss", "redone-after-rejoin", RejoinedRun,
     [](Record& r) { CarryOnFrom(r, 5); }},
    {"bounded-loss", "redone-after-rejoin", RejoinedRun,
     [](Record& r) {
       for (RecordEvent* event : {&EventOf(r, 0, 1, K::kCarriedOn, 0),
                                  &EventOf(r, 1, 2, K::kCarriedOn, 0)}) {
         event->kind = K::kResumed;
         event->step = 5;
       }
     }},
    {"resume-point", "unknown-checkpoint", RejoinedRun,
     [](Record& r) { CarryOnFrom(r, 7); }},
    {"resume-point", "stale-resume", RejoinedRun,
     [](Record& r) { CarryOnFrom(r, 3); }},
    {"resume-point", "ranks-disagree", RejoinedRun,
     [](Record& r) { EventOf(r, 1, 2, K::kCarriedOn, 0).step = 5; }},
    {"trajectory", "state-digest", RejoinedRun,
     [](Record& r) {
       EventOf(r, 1, 2, K::kCarriedOn, 0).digest = kOtherDigest;
     }},
    {"replicas-agree", "replica-mismatch", RejoinedRun,
     [](Record& r) {
       EventOf(r, 1, 2, K::kCarriedOn, 0).digest = kOtherDigest;
     }},
    {"history-consistent", "steps", RejoinedRun,
     [](Record& r) { EventOf(r, 1, 2, K::kCarriedOn, 0).kind = K::kNotice; }},
    // Worker 1 took step 6 over and has not said its rows: what worker 0 says
    // has to be the reference's all the same.
    {"samples", "other-rows", RejoinedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kStep, 5).samples = {0, 1};
     }},
    {"samples", "other-rows", RejoinedRun,
     [](Record& r) { CarryOnFrom(r, 5); }},
    {"no-spontaneous-exit", "unexplained-death", RejoinedRun,
     [](Record& r) { r.faults[0].kind = "errno"; }},
    {"trajectory", "state-digest", RecoveredRun,
     [](Record& r) { EventOf(r, 1, 2, K::kStep, 1).digest = kOtherDigest; }},
    {"trajectory", "loss", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kStep, 0).loss_bits ^= 1; }},
    {"trajectory", "position", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kStep, 0).epoch = 0; }},
    {"trajectory", "off-trajectory", UndisturbedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kStep, 7).step = 9; }},
    {"trajectory", "state-digest", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kResumed, 0).digest = kOtherDigest; }},
    {"trajectory", "final-state", UndisturbedRun,
     [](Record& r) { r.launchers[0].result->digest = kOtherDigest; }},
    {"epochs", "metrics", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kEpochEnd, 0).count = 2; }},
    {"epochs", "order", UndisturbedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kEpochEnd, 1).epoch = 0; }},
    {"epochs", "too-many", UndisturbedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kEpochEnd, 1).epoch = 2; }},
    {"epochs", "missing", UndisturbedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kEpochEnd, 1).kind = K::kNotice;
       EventOf(r, 1, 1, K::kEpochEnd, 1).kind = K::kNotice;
     }},
    {"epochs", "count", UndisturbedRun,
     [](Record& r) { r.launchers[0].result->epochs = 3; }},
    {"samples", "duplicate-sample", RecoveredRun,
     [](Record& r) {
       EventOf(r, 0, 2, K::kStep, 1).samples = {0, 1};
     }},
    {"samples", "missing", UndisturbedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kStep, 1).samples = {}; }},
    {"samples", "other-rows", UndisturbedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kStep, 1).samples = {90, 91};
     }},
    {"samples", "other-rows", UndisturbedRun,
     [](Record& r) {
       std::vector<uint32_t>& rows = EventOf(r, 0, 1, K::kStep, 1).samples;
       rows.back() = rows.front();
     }},
    {"replicas-agree", "replica-mismatch", RecoveredRun,
     [](Record& r) { EventOf(r, 1, 2, K::kStep, 1).digest = kOtherDigest; }},
    {"resume-point", "stale-resume", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kResumed, 0).step = 2; }},
    {"resume-point", "unknown-checkpoint", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kResumed, 0).step = 5; }},
    {"resume-point", "ranks-disagree", RecoveredRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kSaveAcknowledged, 1).kind = K::kSaveBegin;
       EventOf(r, 0, 2, K::kResumed, 0).step = 2;
     }},
    {"bounded-loss", "excess-rework", RecoveredRun,
     [](Record& r) { r.setup.save_interval_steps = 1; }},
    {"bounded-loss", "after-orderly-stop", PreemptedRun,
     [](Record& r) {
       EventOf(r, 0, 2, K::kResumed, 0).step = 4;
       EventOf(r, 1, 2, K::kResumed, 0).step = 4;
     }},
    {"store", "does-not-verify", UndisturbedRun,
     [](Record& r) { r.left.checkpoints[1].valid = false; }},
    {"store", "torn-load", RecoveredRun,
     [](Record& r) { EventOf(r, 1, 2, K::kResumed, 0).digest = kOtherDigest; }},
    {"store", "fenced-read", RecoveredRun,
     [](Record& r) {
       RecordEvent& begin = EventOf(r, 0, 2, K::kLifeBegin, 0);
       begin.kind = K::kFencedFound;
       begin.path = "store/" + EventOf(r, 0, 2, K::kResumed, 0).path;
     }},
    {"store", "retired-newest", UndisturbedRun,
     [](Record& r) {
       LifeOf(r, 0, 1).events.push_back(
           {.kind = K::kRetired, .path = "/s/step-000000008-g1"});
     }},
    {"store", "newest-lost", RecoveredRun,
     [](Record& r) { r.left.checkpoints.pop_back(); }},
    {"store", "retention", UndisturbedRun, [](Record& r) { r.setup.keep = 3; }},
    {"store", "temporary", UndisturbedRun,
     [](Record& r) { r.left.temporary = {"step-000000008-g1.tmp"}; }},
    {"no-cold-start", "cold-start", RecoveredRun,
     [](Record& r) {
       EventOf(r, 0, 2, K::kResumed, 0).kind = K::kInitialized;
     }},
    {"clean-refusal", "unneeded-refusal", RefusedRun,
     [](Record& r) { r.faults.pop_back(); }},
    {"clean-refusal", "with-a-result", RefusedRun,
     [](Record& r) { r.launchers[0].result = FinalResult{.status = "done"}; }},
    {"clean-refusal", "no-evidence-kept", RefusedRun,
     [](Record& r) { r.left.rejected.clear(); }},
    {"grace", "late", PreemptedRun,
     [](Record& r) { r.faults[0].grace_ns = 1'000'000; }},
    {"grace", "killed", PreemptedRun,
     [](Record& r) { LifeOf(r, 0, 1).events.pop_back(); }},
    {"grace", "not-saved", PreemptedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kSaveAcknowledged, 2).kind = K::kSaveFailed;
     }},
    {"grace", "not-one-step", PreemptedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kStopAgreed, 0).step = 4; }},
    {"grace", "no-agreement", PreemptedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kStopAgreed, 0).kind = K::kNotice;
       EventOf(r, 1, 1, K::kStopAgreed, 0).kind = K::kNotice;
     }},
    {"no-spontaneous-exit", "unexplained-death", UndisturbedRun,
     [](Record& r) { LifeOf(r, 1, 1).events.pop_back(); }},
    {"no-spontaneous-exit", "unexplained-death", RecoveredRun,
     [](Record& r) { r.faults[0].kind = "gpu_error"; }},
    {"no-spontaneous-exit", "launcher", UndisturbedRun,
     [](Record& r) { r.launchers[0].exit_code = 139; }},
    {"trajectory", "state-digest", UndisturbedRun,
     [](Record& r) { EventOf(r, 0, 1, K::kStep, 3).digest.clear(); }},
    {"detection", "late", RecoveredRun,
     [](Record& r) { r.expect.detected_in_max_ns = 1'000'000; }},
    {"no-hang", "hung", UndisturbedRun,
     [](Record& r) { r.ending = RunEnding::kHung; }},
    {"no-hang", "timed-out", UndisturbedRun,
     [](Record& r) { r.ending = RunEnding::kTimedOut; }},
    {"no-orphans", "process", UndisturbedRun,
     [](Record& r) { r.left.processes = {"worker 1 (4711)"}; }},
    {"fault-fired", "never-fired", RecoveredRun,
     [](Record& r) { EventOf(r, 1, 1, K::kFaultFired, 0).detail = "x"; }},
    {"fault-fired", "no-effect", RecoveredRun,
     [](Record& r) {
       LifeOf(r, 1, 1).events.push_back({.kind = K::kLifeEnd});
     }},
    {"fault-fired", "no-effect", PreemptedRun,
     [](Record& r) {
       EventOf(r, 0, 1, K::kNotice, 0).kind = K::kStopAgreed;
       EventOf(r, 0, 1, K::kLifeEnd, 0).kind = K::kStopAgreed;
     }},
    {"history-consistent", "beginning", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kLifeBegin, 0).kind = K::kNotice; }},
    {"history-consistent", "after-end", RecoveredRun,
     [](Record& r) { LifeOf(r, 0, 2).events.push_back({.t_ns = 1 << 30}); }},
    {"history-consistent", "time", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kStep, 1).t_ns = 1; }},
    {"history-consistent", "steps", RecoveredRun,
     [](Record& r) { EventOf(r, 0, 2, K::kStep, 1).step = 7; }},
    {"history-consistent", "lives", RecoveredRun,
     [](Record& r) { LifeOf(r, 1, 2).life = 3; }},
    {"history-consistent", "missing", RecoveredRun,
     [](Record& r) { r.launchers[0].result->steps = 9; }},
    {"history-consistent", "generations", RecoveredRun,
     [](Record& r) {
       for (RecordEvent& event : LifeOf(r, 1, 2).events) event.generation = 1;
       for (RecordEvent& event : LifeOf(r, 1, 1).events) event.generation = 2;
     }},
};

INSTANTIATE_TEST_SUITE_P(All, SpoiledRunTest, testing::ValuesIn(kSpoiled));

TEST(EventsMergeTest, ALateSurvivorMayClaimIfItDoesNotTrain) {
  Record record = RecoveredRun();
  for (RecordEvent& event : LifeOf(record, 1, 2).events) event.generation = 1;
  LifeEvents& late = LifeOf(record, 1, 1);
  for (RecordEvent& event : late.events) event.generation = 2;
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 1u);
  std::erase_if(late.events, [](const RecordEvent& event) {
    return event.kind == K::kStep;
  });
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 0u);
}

// Where one is enough, it needs nobody to train with.
TEST(EventsMergeTest, ALateSurvivorTrainsOnWhereOneIsEnough) {
  Record record = RecoveredRun();
  for (RecordEvent& event : LifeOf(record, 1, 2).events) event.generation = 1;
  for (RecordEvent& event : LifeOf(record, 1, 1).events) event.generation = 2;
  ASSERT_EQ(ReportOf(record, "history-consistent").breaches, 1u);
  record.setup.min_workers = 1;
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 0u);
  record.setup.min_workers = 2;
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 1u);
  record.setup.workers_by_life = {2, 1};
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 1u)
      << "not in its life";
  record.setup.workers_by_life = {1, 2};
  EXPECT_EQ(ReportOf(record, "history-consistent").breaches, 0u);
}

TEST(GraceTest, ANoticeThatComesWhenAllIsDoneStopsNothing) {
  Record record = UndisturbedRun();
  record.faults.push_back(
      {.id = "notice", .kind = "preempt", .grace_ns = 1'000'000'000});
  LifeOf(record, 0, 1)
      .events.insert(LifeOf(record, 0, 1).events.end() - 1,
                     {.kind = K::kFaultFired,
                      .t_ns = EventOf(record, 0, 1, K::kLifeEnd, 0).t_ns,
                      .detail = "notice"});
  EXPECT_EQ(ReportOf(record, "grace").breaches, 0u);
}

TEST(FaultFiredTest, ANoticeWithoutAGraceIsNotSeen) {
  Record record = UndisturbedRun();
  record.faults.push_back({.id = "notice", .kind = "preempt", .grace_ns = 0});
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  events.back() = {.kind = K::kFaultFired, .detail = "notice"};
  EXPECT_EQ(ReportOf(record, "fault-fired").breaches, 0u);
  record.faults.back().grace_ns = 1;
  EXPECT_EQ(ReportOf(record, "fault-fired").breaches, 1u);
}

TEST(CheckTest, KeepsFiveFindingsInWordsAndCountsTheRest) {
  Check check("store");
  for (int i = 0; i < 9; ++i) check.Breach("x", "y");
  EXPECT_EQ(check.report().breaches, 9u);
  EXPECT_EQ(check.report().findings.size(), 5u);
}

TEST(DeathsExplainedTest, MemoryThatRanOutIsSaidBesideEachDeath) {
  Record record = RecoveredRun();
  record.faults[0].kind = "errno";
  const InvariantReport before = ReportOf(record, "no-spontaneous-exit");
  ASSERT_EQ(before.findings.size(), 1u);
  record.oom_kills = 1;
  const InvariantReport after = ReportOf(record, "no-spontaneous-exit");
  EXPECT_EQ(after.findings.at(0).message,
            before.findings[0].message +
                "; meanwhile memory ran out: the kernel killed 1 process of "
                "this machine");
}

// A run whose last save fails so often, by a fault of the plan: all leave with
// that code.
Record RunWithoutRoom(int64_t exit, int tries) {
  Record record = UndisturbedRun();
  record.faults = {{.id = "full",
                    .kind = "errno",
                    .worker = "0",
                    .point = "ckpt.shard.write",
                    .always = true}};
  for (LifeEvents& life : record.lives) {
    std::erase_if(life.events, [](const RecordEvent& one) {
      return one.kind == K::kFinished;
    });
    RecordEvent& end = life.events.back();
    end.count = exit;
    end.reason = RecordReason::kDiskFull;
    end.step = 8;
    if (life.worker != 0) continue;
    const RecordEvent failed = {.kind = K::kSaveFailed,
                                .t_ns = end.t_ns,
                                .generation = 1,
                                .step = 8,
                                .reason = RecordReason::kDiskFull};
    life.events.insert(life.events.end() - 1, static_cast<size_t>(tries),
                       failed);
    life.events.insert(life.events.end() - 1, {.kind = K::kFaultFired,
                                               .t_ns = end.t_ns,
                                               .generation = 1,
                                               .path = "ckpt.shard.write",
                                               .detail = "full"});
  }
  for (RecordEvent& event : record.launchers[0].events) {
    if (event.kind == K::kExited) event.count = exit;
  }
  record.launchers[0].exit_code = 75;
  record.launchers[0].result.reset();
  return record;
}

// Only who gives up the last save may leave for it, after all tries.
TEST(DeathsExplainedTest, AFullDiskIsNoReasonToStartAgain) {
  const auto names = [](const Record& record) {
    std::vector<std::string> found;
    for (const Finding& one :
         ReportOf(record, "no-spontaneous-exit").findings) {
      found.push_back(one.name);
    }
    return found;
  };
  EXPECT_THAT(names(RunWithoutRoom(74, 6)), testing::IsEmpty());
  EXPECT_THAT(names(RunWithoutRoom(74, 5)),
              testing::ElementsAre("given-up-early"));
  EXPECT_THAT(names(RunWithoutRoom(75, 6)),
              testing::ElementsAre("unexplained-exit", "unexplained-exit"));
  Record nothing_happened = RunWithoutRoom(74, 6);
  nothing_happened.faults[0].kind = "wall_clock_jump";
  EXPECT_THAT(names(nothing_happened),
              testing::ElementsAre("unexplained-exit", "unexplained-exit"));
  Record again = RunWithoutRoom(74, 6);
  again.launchers[0].restarts = 1;
  EXPECT_THAT(names(again), testing::ElementsAre("restarted", "restarted"));
}

// A checkpoint that made room for another is owed to nobody. One that is
// removed behind a save that failed for another reason is.
TEST(EvidenceTest, WhatMadeRoomForASaveIsOwedNoMore) {
  const auto owed = [](RecordReason why_failed) {
    Record record = RecoveredRun();
    LifeEvents& chief = LifeOf(record, 0, 1);
    RecordEvent failed = EventOf(record, 0, 1, K::kSaveAcknowledged, 1);
    failed.kind = K::kSaveFailed;
    failed.reason = why_failed;
    RecordEvent freed = EventOf(record, 0, 1, K::kSaveAcknowledged, 0);
    freed.kind = K::kRetired;
    chief.events.insert(chief.events.end() - 1, {failed, freed});
    const Evidence evidence(record);
    std::vector<uint64_t> steps;
    for (const Acknowledged& save : evidence.GoodSavesBefore(evidence.End())) {
      steps.push_back(save.moment.step);
    }
    return steps;
  };
  EXPECT_THAT(owed(RecordReason::kDiskFull),
              testing::Not(testing::Contains(2)));
  EXPECT_THAT(owed(RecordReason::kDiskError), testing::Contains(2));
}

}  // namespace
}  // namespace gauntlet
