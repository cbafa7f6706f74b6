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
    {"no-spontaneous-exit", "device", RecoveredRun,
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

// A cut that was healed in time is no loss, whoever is lost later.
TEST(DetectionTest, ATroubleOfTheNetworkThatWasSurvivedIsNotCounted) {
  Record record = RecoveredRun();
  record.faults[0].kind = "partition";
  const uint64_t lost = ReportOf(record, "detection").instances;
  EXPECT_EQ(lost, 1u);
  LifeEvents& cut = LifeOf(record, 1, 1);
  cut.events.push_back({.kind = K::kStep,
                        .t_ns = cut.events.back().t_ns + 1,
                        .step = cut.events.back().step + 2});
  EXPECT_EQ(ReportOf(record, "detection").instances, 0u);
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

TEST(DetectionTest, ALossIsNoticedWithinTheBoundOfWhatWasUnderWay) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u) << "it was training";
  EventOf(record, 1, 1, K::kInitialized, 0).kind = K::kNotice;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u) << "it was joining";
  record.setup.detection_bound_joining_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u);
}

// Worker 1 dies behind a cut, and comes back: nobody else is cut off then,
// unless others were parted too.
TEST(DeathsTest, ACutBetweenGroupsOutlivesTheWorkerThatItFiredIn) {
  Record record = RejoinedRun();
  record.faults[0].kind = "partition";
  LifeOf(record, 1, 2).events.back().count = 75;
  EXPECT_EQ(ReportOf(record, "no-spontaneous-exit").breaches, 1u);
  record.faults[0].parts_others = true;
  EXPECT_EQ(ReportOf(record, "no-spontaneous-exit").breaches, 0u);
  record.faults[0].duration_ns = 1;
  EXPECT_EQ(ReportOf(record, "no-spontaneous-exit").breaches, 1u)
      << "it healed";
}

// It is in its first life still, in which it was training before.
TEST(DetectionTest, AWorkerThatRejoinsIsJoiningUntilItCarriesOn) {
  Record record = RejoinedRun();
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  const auto left = std::ranges::find(events, K::kLeft, &RecordEvent::kind);
  ASSERT_NE(left, events.end());
  const int64_t lost = left->t_ns + 2;
  const RecordEvent fired = {
      .kind = K::kFaultFired, .t_ns = lost, .detail = "hang-w0"};
  record.faults = {{.id = "hang-w0", .kind = "hang", .worker = "0"}};
  record.setup.detection_bound_ns = record.setup.detection_bound_saving_ns = 1;
  record.setup.detection_bound_joining_ns = 1'000'000'000'000;
  const auto breaches = [&](std::vector<RecordEvent> then) {
    Record one = record;
    std::vector<RecordEvent>& all = LifeOf(one, 0, 1).events;
    all.erase(all.begin() + (left - events.begin()) + 1, all.end());
    all.insert(all.end(), then.begin(), then.end());
    return ReportOf(one, "detection").breaches;
  };
  EXPECT_EQ(breaches({fired}), 0u) << "between two generations";
  EXPECT_EQ(breaches({{.kind = K::kCarriedOn, .t_ns = lost - 1}, fired}), 1u);
  EXPECT_EQ(breaches({{.kind = K::kResumed, .t_ns = lost - 1}, fired}), 1u);
  record.setup.detection_bound_joining_ns = 1;
  EXPECT_EQ(breaches({fired}), 1u) << "it has its own bound";
}

// Nobody but the launcher says anything, by the lives that it begins anew.
TEST(DetectionTest, ARestartMayComeAfterItsPause) {
  Record record = RecoveredRun();
  for (LifeEvents& life : record.lives) {
    std::erase_if(life.events, [](const RecordEvent& event) {
      return event.kind == K::kWorkerLost || event.kind == K::kLifeEnd;
    });
  }
  record.setup.detection_bound_ns = 1;
  ASSERT_EQ(ReportOf(record, "detection").breaches, 1u);
  record.setup.restart_pause_ns = 1'000'000'000'000;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
  record.setup.first_restart_pause_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u)
      << "the first pause is the shortest";
  record.setup.first_restart_pause_ns = 1'000'000'000'000;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
}

TEST(DetectionTest, AFaultThatCreepsHasNoMomentToCountFrom) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  ASSERT_EQ(ReportOf(record, "detection").breaches, 1u);
  for (const char* kind : {"delay", "packet_loss"}) {
    record.faults.back().kind = kind;
    EXPECT_EQ(ReportOf(record, "detection").breaches, 0u) << kind;
  }
  record.expect.detected_in_max_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u) << "the scenario's own";
}

// Breaches of detection that name the fault.
size_t LateLossesBy(const Record& record, std::string_view fault) {
  const InvariantReport report = ReportOf(record, "detection");
  return static_cast<size_t>(
      std::ranges::count_if(report.findings, [&](const Finding& finding) {
        return finding.message.find(fault) != std::string::npos;
      }));
}

// What the invariant says where worker 1 hangs twice, the second time for good,
// and is noticed `late` ns after that.
InvariantReport OfTwoHangs(int64_t first_ns, int64_t between_ns, int64_t late) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 100;
  std::vector<RecordEvent>& events = LifeOf(record, 1, 1).events;
  const int64_t noticed = EventOf(record, 0, 1, K::kWorkerLost, 0).t_ns;
  const int64_t second = noticed - late;
  events.back() = {
      .kind = K::kFaultFired, .t_ns = second - between_ns, .detail = "first"};
  events.push_back(
      {.kind = K::kFaultFired, .t_ns = second, .detail = "second"});
  record.faults = {{.id = "first", .kind = "hang", .duration_ns = first_ns},
                   {.id = "second", .kind = "hang"}};
  return ReportOf(record, "detection");
}

TEST(DetectionTest, OfSeveralFaultsTheLastOneOfALifeCounts) {
  EXPECT_EQ(OfTwoHangs(500, 1000, 99).breaches, 0u);
  const InvariantReport late = OfTwoHangs(500, 1000, 101);
  ASSERT_EQ(late.findings.size(), 1u);
  EXPECT_NE(late.findings[0].message.find("(second)"), std::string::npos);
}

TEST(DetectionTest, WhoStandsStillForGoodIsLostWhateverItMeetsThen) {
  EXPECT_EQ(OfTwoHangs(0, 50, 50).breaches, 0u);
  const InvariantReport late = OfTwoHangs(0, 1000, 99);
  ASSERT_EQ(late.findings.size(), 1u);
  EXPECT_NE(late.findings[0].message.find("(first)"), std::string::npos);
}

// Another task of the worker may meet the second while the first still stands.
TEST(DetectionTest, AHangThatStandsYetIsNotOverByWhatAnotherTaskMeets) {
  EXPECT_EQ(OfTwoHangs(1001, 1000, 99).instances, 2u);
  EXPECT_GT(OfTwoHangs(1001, 1000, 99).breaches, 0u);
  EXPECT_EQ(OfTwoHangs(1000, 1000, 99).instances, 1u);
}

TEST(DetectionTest, AHangBeyondAllBoundsHadToBeNoticedHoweverItsLifeEnds) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  record.setup.detection_bound_joining_ns = 39;
  record.faults[0].kind = "hang";
  record.faults[0].duration_ns = 40;
  std::vector<RecordEvent>& events = LifeOf(record, 1, 1).events;
  const int64_t fired = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  events.push_back({.kind = K::kLifeEnd, .t_ns = fired + 50});
  EXPECT_EQ(ReportOf(record, "detection").instances, 1u);
  events.back().t_ns = fired + 40;
  EXPECT_EQ(ReportOf(record, "detection").instances, 0u)
      << "it left in the course of it";
}

// The second fault is none that a life is lost by at a moment, but it shows
// that the first one was over.
TEST(DetectionTest, AHangThatWasOverLostNothing) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  RecordEvent& fired = EventOf(record, 1, 1, K::kFaultFired, 0);
  record.faults[0].kind = "hang";
  const auto instances = [&](int64_t duration) {
    Record one = record;
    one.faults[0].duration_ns = duration;
    one.faults.push_back({.id = "error", .kind = "errno"});
    LifeOf(one, 1, 1).events.push_back(
        {.kind = K::kFaultFired, .t_ns = fired.t_ns + 50, .detail = "error"});
    return ReportOf(one, "detection").instances;
  };
  EXPECT_EQ(instances(0), 1u) << "for ever: another task met the second";
  EXPECT_EQ(instances(60), 1u) << "it was not over yet";
  EXPECT_EQ(instances(40), 0u);
  record.setup.detection_bound_joining_ns = 39;
  EXPECT_EQ(instances(40), 1u) << "it had to be noticed";
}

// What the invariant says where worker 1 is lost, and the other one, whom the
// fault meets a moment later, notices `late` ns after the loss.
InvariantReport OfAnotherThat(const RecordFault& fault, int64_t late) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 100;
  const int64_t lost = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  std::vector<RecordEvent>& others = LifeOf(record, 0, 1).events;
  std::erase_if(others,
                [&](const RecordEvent& event) { return event.t_ns > lost; });
  others.push_back({.kind = K::kFaultFired, .t_ns = lost + 1, .detail = "it"});
  others.push_back({.kind = K::kWorkerLost, .t_ns = lost + late});
  record.faults.push_back(fault);
  record.faults.back().id = "it";
  return ReportOf(record, "detection");
}

TEST(DetectionTest, ACutThatIsOverBeforeTheSilenceCountsLostNobody) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  record.setup.silence_limit_ns = 100;
  record.faults[0].kind = "partition";
  const int64_t cut = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  LifeOf(record, 1, 1)
      .events.push_back({.kind = K::kSaveFailed, .t_ns = cut + 200});
  const auto instances = [&](int64_t duration) {
    record.faults[0].duration_ns = duration;
    return ReportOf(record, "detection").instances;
  };
  EXPECT_EQ(instances(99), 0u);
  EXPECT_EQ(instances(100), 1u);
  EXPECT_EQ(instances(0), 1u);
}

// It crashes behind a cut that the other one has noticed, and that one is not
// there to notice the crash.
TEST(DetectionTest, WhoIsTakenForLostIsLostOnce) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 100;
  std::vector<RecordEvent>& events = LifeOf(record, 1, 1).events;
  const int64_t noticed = EventOf(record, 0, 1, K::kWorkerLost, 0).t_ns;
  std::erase_if(LifeOf(record, 0, 1).events,
                [&](const RecordEvent& event) { return event.t_ns > noticed; });
  events.back() = {
      .kind = K::kFaultFired, .t_ns = noticed - 50, .detail = "first"};
  events.push_back(
      {.kind = K::kFaultFired, .t_ns = noticed + 50, .detail = "second"});
  record.faults = {{.id = "first", .kind = "connection_reset"},
                   {.id = "second", .kind = "crash"}};
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
  record.faults[0].kind = "errno";
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u);
}

// The launcher starts all again once it has given up the one it cannot reach.
TEST(DetectionTest, ALauncherThatIsCutOffFromOneWaitsForIt) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  for (LifeEvents& life : record.lives) {
    std::erase_if(life.events, [](const RecordEvent& event) {
      return event.kind == K::kWorkerLost || event.kind == K::kLifeEnd;
    });
  }
  const int64_t lost = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  LifeOf(record, 0, 1)
      .events.push_back(
          {.kind = K::kFaultFired, .t_ns = lost - 1, .detail = "cut"});
  record.faults.push_back({.id = "cut", .kind = "errno"});
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 1u);
  record.faults.back().kind = "partition";
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u);
}

// The kill comes a moment before the cut: nobody is left to be heard.
TEST(DetectionTest, ALauncherWaitsForOneThatEndsOutOfItsReach) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = record.setup.detection_bound_saving_ns = 1;
  std::erase_if(record.lives,
                [](const LifeEvents& life) { return life.worker == 0; });
  ASSERT_EQ(LateLossesBy(record, "crash-w1"), 1u);
  std::vector<RecordEvent>& events = LifeOf(record, 1, 1).events;
  events.push_back({.kind = K::kFaultFired,
                    .t_ns = events.back().t_ns + 1,
                    .detail = "then"});
  record.faults.push_back({.id = "then", .kind = "partition"});
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u);
  record.faults.back().kind = "wall_clock_jump";
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 1u);
}

TEST(DetectionTest, ACutThatWasOverBeforeExcusesNoLauncher) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = record.setup.detection_bound_saving_ns = 1;
  record.setup.silence_limit_ns = 10;
  std::erase_if(record.lives,
                [](const LifeEvents& life) { return life.worker == 0; });
  RecordEvent& before = EventOf(record, 1, 1, K::kLifeBegin, 0);
  before = {.kind = K::kFaultFired, .t_ns = before.t_ns, .detail = "cut"};
  record.faults.push_back({.id = "cut", .kind = "partition", .duration_ns = 9});
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 1u);
  record.faults.back().duration_ns = 10;
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u) << "long enough for an alarm";
}

// The others are there, and say nothing.
TEST(DetectionTest, ALauncherThatIsCutOffFromTheDeadKnowsNothing) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = record.setup.detection_bound_saving_ns = 1;
  std::erase_if(LifeOf(record, 0, 1).events, [](const RecordEvent& event) {
    return event.kind == K::kWorkerLost || event.kind == K::kLifeEnd;
  });
  std::vector<RecordEvent>& events = LifeOf(record, 1, 1).events;
  events.push_back({.kind = K::kFaultFired,
                    .t_ns = events.back().t_ns + 1,
                    .detail = "then"});
  record.faults.push_back({.id = "then", .kind = "partition"});
  EXPECT_EQ(LateLossesBy(record, "then"), 0u);
  record.faults[0].kind = "preempt";
  EXPECT_EQ(LateLossesBy(record, "then"), 0u) << "its grace may be over";
  record.faults[0].kind = "wall_clock_jump";
  EXPECT_EQ(LateLossesBy(record, "then"), 1u);
}

TEST(DetectionTest, TheNetworkOfOneThatIsAloneLosesNobody) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  record.faults[0].kind = "connection_reset";
  ASSERT_EQ(LateLossesBy(record, "crash-w1"), 1u);
  std::erase_if(record.lives,
                [](const LifeEvents& life) { return life.worker == 0; });
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u);
  record.expect.detected_in_max_ns = 1;
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 1u);
}

// Who has done all waits for the others' word as long as in a save.
TEST(DetectionTest, ALossAtTheEndMayTakeTheTimeOfASave) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  ASSERT_EQ(ReportOf(record, "detection").breaches, 1u);
  EventOf(record, 0, 1, K::kStep, 5).kind = K::kFinished;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
  record.setup.detection_bound_saving_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u);
}

// Worker 0 hangs a moment after worker 1 has met another fault, which may have
// lost their generation.
TEST(DetectionTest, WhoseGenerationIsLostIsMetAgainAndLostThere) {
  Record record = RejoinedRun();
  record.setup.detection_bound_ns = record.setup.detection_bound_saving_ns = 1;
  record.setup.detection_bound_joining_ns = 1'000'000'000'000;
  const int64_t crashed = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  std::erase_if(events,
                [&](const RecordEvent& event) { return event.t_ns > crashed; });
  events.push_back(
      {.kind = K::kFaultFired, .t_ns = crashed + 1, .detail = "hang-w0"});
  LifeOf(record, 1, 1)
      .events.push_back(
          {.kind = K::kWorkerLost, .t_ns = crashed + 50, .generation = 1});
  record.faults[0].kind = "connection_reset";
  record.faults.push_back({.id = "hang-w0", .kind = "hang", .worker = "0"});
  EXPECT_EQ(LateLossesBy(record, "hang-w0"), 0u);
  record.faults[0].kind = "errno";
  EXPECT_EQ(LateLossesBy(record, "hang-w0"), 1u);
  record.faults[0].kind = "preempt";
  EXPECT_EQ(LateLossesBy(record, "hang-w0"), 0u) << "its grace was over";
  record.faults[0].grace_ns = 2;
  EXPECT_EQ(LateLossesBy(record, "hang-w0"), 1u) << "not yet";
  record.faults[0].grace_ns = 0;
  LifeOf(record, 1, 1).events.push_back({.kind = K::kLifeEnd, .count = 143});
  EXPECT_EQ(LateLossesBy(record, "hang-w0"), 1u) << "it left in time";
}

TEST(DetectionTest, WhoIsHeldUpNoticesLater) {
  const RecordFault hang = {.kind = "pause", .duration_ns = 50};
  EXPECT_EQ(OfAnotherThat(hang, 150).breaches, 0u);
  EXPECT_EQ(OfAnotherThat(hang, 151).breaches, 1u);
  const RecordFault harmless = {.kind = "errno"};
  EXPECT_EQ(OfAnotherThat(harmless, 100).breaches, 0u);
  EXPECT_EQ(OfAnotherThat(harmless, 101).breaches, 1u);
  const RecordFault creeping = {.kind = "slow", .latency_ns = 50};
  EXPECT_EQ(OfAnotherThat(creeping, 1'000'000).instances, 0u);
}

TEST(DetectionTest, WhatWasSlowLongBeforeHoldsNobodyUp) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  RecordEvent& met = EventOf(record, 0, 1, K::kSaveBegin, 0);
  met.kind = K::kFaultFired;
  met.detail = "it";
  const int64_t before =
      EventOf(record, 1, 1, K::kFaultFired, 0).t_ns - met.t_ns;
  ASSERT_GT(before, 0);
  record.faults.push_back({.id = "it", .kind = "slow", .latency_ns = 99});
  record.setup.silence_limit_ns = before + 1;
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 1u);
  record.faults.back().latency_ns = before + 1;
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u) << "it still is";
  record.faults.back() = {
      .id = "it", .kind = "slow", .always = true, .latency_ns = 99};
  EXPECT_EQ(LateLossesBy(record, "crash-w1"), 0u) << "at every hit";
}

TEST(DetectionTest, ASaveThatIsUnderWayMayTakeItsOwnTime) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  EventOf(record, 0, 1, K::kSaveAcknowledged, 1).kind = K::kNotice;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
  record.setup.detection_bound_saving_ns = 1;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u);
}

// A save that was cut off in the first life is under way in no other.
TEST(DetectionTest, ASaveOfAnEarlierLifeLoosensNoBound) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  EventOf(record, 0, 1, K::kSaveAcknowledged, 1).kind = K::kNotice;
  ASSERT_EQ(ReportOf(record, "detection").breaches, 0u);
  LifeOf(record, 0, 1).life = 0;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u);
}

TEST(DetectionTest, ASaveThatTheOthersGoIntoMayTakeItsOwnTimeToo) {
  Record record = RecoveredRun();
  record.setup.detection_bound_ns = 1;
  const RecordEvent& fired = EventOf(record, 1, 1, K::kFaultFired, 0);
  std::vector<RecordEvent>& others = LifeOf(record, 0, 1).events;
  const auto after = std::find_if(
      others.begin(), others.end(),
      [&](const RecordEvent& event) { return event.t_ns > fired.t_ns; });
  ASSERT_NE(after, others.end());
  after->t_ns += 2;
  others.insert(after, {.kind = K::kSaveBegin, .t_ns = fired.t_ns});
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
}

// Its own is refused meanwhile: that of its successors goes on.
TEST(DetectionTest, WhatBecomesOfALateSurvivorsSaveEndsNoOther) {
  Record record = RejoinedRun();
  record.setup.detection_bound_ns = 1;
  EventOf(record, 0, 1, K::kSaveAcknowledged, 1).kind = K::kNotice;
  ASSERT_EQ(ReportOf(record, "detection").breaches, 0u)
      << "a save is under way";
  const int64_t fired = EventOf(record, 1, 1, K::kFaultFired, 0).t_ns;
  LifeEvents late = {.worker = 0, .life = 0, .events = {}};
  late.events = {{.kind = K::kSaveFailed, .t_ns = fired - 1, .step = 2}};
  record.lives.push_back(late);
  EXPECT_EQ(ReportOf(record, "detection").breaches, 0u);
  record.lives.back().worker = 2;
  EXPECT_EQ(ReportOf(record, "detection").breaches, 1u) << "one of its own";
}

TEST(CheckTest, KeepsFiveFindingsInWordsAndCountsTheRest) {
  Check check("store");
  for (int i = 0; i < 9; ++i) check.Breach("x", "y");
  EXPECT_EQ(check.report().breaches, 9u);
  EXPECT_EQ(check.report().findings.size(), 5u);
}

// Worker 1 of a run that went on says no word more, by a slow fault.
uint64_t UnexplainedDeaths(const RecordFault& slow) {
  Record record = RecoveredRun();
  record.faults = {slow};
  record.faults[0].id = EventOf(record, 1, 1, K::kFaultFired, 0).detail;
  record.faults[0].kind = "slow";
  record.setup.silence_limit_ns = 1'000;
  record.setup.hang_limit_ns = 3'000;
  for (LifeEvents& life : record.lives) {
    if (life.life == 1)
      std::erase_if(life.events, [](const RecordEvent& one) {
        return one.kind == K::kLifeEnd;
      });
  }
  return ReportOf(record, "no-spontaneous-exit").breaches;
}

TEST(DeathsExplainedTest, MemoryThatRanOutIsSaidBesideEachDeath) {
  Record record = RecoveredRun();
  record.faults[0].kind = "errno";
  const InvariantReport before = ReportOf(record, "no-spontaneous-exit");
  ASSERT_EQ(before.findings.size(), 2u) << "one was lost, and one left for it";
  record.oom_kills = 1;
  const InvariantReport after = ReportOf(record, "no-spontaneous-exit");
  for (const size_t i : {0u, 1u}) {
    EXPECT_EQ(after.findings.at(i).message,
              before.findings[i].message +
                  "; meanwhile memory ran out: the kernel killed 1 process of "
                  "this machine");
  }
}

// A run whose last save fails so often, by a fault of the plan: all leave with
// that code and reason.
Record RunWithoutRoom(int64_t exit, const std::string& reason, int tries) {
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
    end.detail = reason;
    if (life.worker != 0) continue;
    const RecordEvent failed = {.kind = K::kSaveFailed,
                                .t_ns = end.t_ns,
                                .generation = 1,
                                .step = 8,
                                .detail = "injected ENOSPC"};
    life.events.insert(life.events.end() - 1, static_cast<size_t>(tries),
                       failed);
    life.events.insert(life.events.end() - 1, {.kind = K::kFaultFired,
                                               .t_ns = end.t_ns,
                                               .generation = 1,
                                               .path = "ckpt.shard.write",
                                               .detail = "full"});
  }
  record.launchers[0].exit_code = 75;
  record.launchers[0].result.reset();
  return record;
}

constexpr const char* kFull = "ckpt.shard.write: injected ENOSPC";

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
  const std::string unsaved = fmt::format("step 8 was not saved: {}", kFull);
  EXPECT_THAT(names(RunWithoutRoom(74, unsaved, 6)), testing::IsEmpty());
  EXPECT_THAT(names(RunWithoutRoom(74, unsaved, 5)),
              testing::ElementsAre("given-up-early"));
  EXPECT_THAT(
      names(RunWithoutRoom(75, fmt::format("save of step 8: {}", kFull), 6)),
      testing::ElementsAre("unexplained-exit", "unexplained-exit"));
  Record nothing_happened = RunWithoutRoom(74, unsaved, 6);
  nothing_happened.faults[0].id = "another";
  EXPECT_THAT(names(nothing_happened),
              testing::ElementsAre("unexplained-exit", "unexplained-exit"));
  Record again = RunWithoutRoom(74, unsaved, 6);
  again.launchers[0].restarts = 1;
  EXPECT_THAT(names(again), testing::ElementsAre("restarted", "restarted"));
}

// A checkpoint that made room for another is owed to nobody. One that is
// removed behind a save that failed for another reason is.
TEST(EvidenceTest, WhatMadeRoomForASaveIsOwedNoMore) {
  const auto owed = [](const char* why_failed) {
    Record record = RecoveredRun();
    LifeEvents& chief = LifeOf(record, 0, 1);
    RecordEvent failed = EventOf(record, 0, 1, K::kSaveAcknowledged, 1);
    failed.kind = K::kSaveFailed;
    failed.detail = why_failed;
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
  EXPECT_THAT(owed("rank 1's shard: injected ENOSPC"),
              testing::Not(testing::Contains(2)));
  EXPECT_THAT(owed("rank 1's shard: injected EIO"), testing::Contains(2));
}

TEST(DeathsExplainedTest, ASlowFaultExplainsWhatItsLengthCan) {
  EXPECT_EQ(UnexplainedDeaths({.latency_ns = 3'000}), 0u);
  EXPECT_EQ(UnexplainedDeaths({.latency_ns = 1'500}), 0u);
  EXPECT_GT(UnexplainedDeaths({.latency_ns = 1'000}), 0u);
  EXPECT_EQ(UnexplainedDeaths({.worker = "all", .latency_ns = 1'000}), 0u);
  EXPECT_EQ(UnexplainedDeaths({.always = true, .latency_ns = 1'000}), 0u);
  EXPECT_EQ(UnexplainedDeaths({.point = "ctl.heartbeat", .latency_ns = 1'000}),
            0u);
}

}  // namespace
}  // namespace gauntlet
