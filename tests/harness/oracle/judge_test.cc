#include "harness/oracle/judge.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using K = RecordKind;

const std::string kOtherDigest(32, 'f');

ScriptedRun RunOffTheReference() {
  ScriptedRun run = RecoveredRun();
  run.events.At(WorkerProcess(1, 2), K::kStep, 1).digest = kOtherDigest;
  return run;
}

// Makes the planned crash never fire.
void NeverFire(ScriptedRun& run) {
  run.events.At(WorkerProcess(1, 1), K::kFaultFired).detail = "x";
}

TEST(JudgeTest, StatesFactsAndTimeline) {
  const Verdict verdict = Judge(RecoveredRun().record());
  EXPECT_EQ(verdict.facts, (RunFacts{.faults_fired = 1,
                                     .restarts = 1,
                                     .resumed_from = 4,
                                     .max_recomputed_steps = 2,
                                     .distinct_recomputed_steps = 2,
                                     .recomputations = 2}));
  EXPECT_THAT(
      verdict.timeline,
      testing::ElementsAre(
          "worker 1, incarnation 1  step 6  crash-w1: crash worker 1 at "
          "step.end",
          "worker 0, incarnation 1  lost rank 1: closed",
          "worker 0, incarnation 2  resumed from step 4 "
          "(step-000000004-evaluation_due-g1, generation 1)",
          "worker 1, incarnation 2  resumed from step 4 "
          "(step-000000004-evaluation_due-g1, generation 1)"));
}

TEST(JudgeTest, FactsHaveTheResumeFromMemory) {
  const RunFacts facts = Judge(RejoinedRun().record()).facts;
  EXPECT_EQ(facts.resumed_from, std::nullopt);
  EXPECT_EQ(facts.resumed_from_memory, 6u);
}

TEST(JudgeTest, RepeatedFault_CountsOnce) {
  Record record = RecoveredRun().record();
  std::vector<RecordEvent>* fired_in = nullptr;
  RecordEvent fired;
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind != K::kFaultFired) continue;
      fired_in = &incarnation.events;
      fired = event;
    }
  }
  ASSERT_NE(fired_in, nullptr);
  ASSERT_NE(fired_in, &record.incarnations.back().events);
  record.incarnations.back().events.push_back(fired);
  fired.kind = K::kFaultAgain;
  fired_in->push_back(fired);
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.facts.faults_fired, 1u);
  EXPECT_THAT(verdict.timeline,
              testing::Contains("worker 1, incarnation 1  step 6  crash-w1: "
                                "crash worker 1 at step.end (fired 2 times)"));
}

TEST(JudgeTest, LongTimelineHasItsBeginAndItsEnd) {
  Record record = RecoveredRun().record();
  std::vector<RecordEvent>& events = record.incarnations.back().events;
  const RecordEvent last = events.back();
  for (size_t i = 0; i < 40; ++i) {
    events.push_back({.kind = K::kSaveFailed,
                      .t_ns = last.t_ns,
                      .step = 8 + i,
                      .detail = "no space"});
  }
  const std::vector<std::string> repeated = Judge(record).timeline;
  ASSERT_EQ(repeated.size(), 5u);
  EXPECT_THAT(repeated.back(),
              testing::AllOf(HasSubstr("step 8..47  save failed: no space (40 "
                                       "times until "),
                             testing::EndsWith("s)")));
  for (size_t i = 0; i < 40; ++i) {
    RecordEvent& event = events[events.size() - 1 - i];
    event.kind = K::kRejected;
    event.path = std::string(i + 1, 'x');
  }
  const std::vector<std::string> timeline = Judge(record).timeline;
  ASSERT_EQ(timeline.size(), 13u);
  EXPECT_EQ(timeline[8],
            "(32 events are left out here; gauntlet show prints all)");
  EXPECT_THAT(timeline.back(), HasSubstr("  rejected x: no space"));
}

TEST(JudgeTest, TimelineShortensTheErrorsOfAFullDisk) {
  Record record = RecoveredRun().record();
  std::vector<RecordEvent>& events = record.incarnations.back().events;
  events.push_back({.kind = K::kSaveFailed,
                    .t_ns = events.back().t_ns,
                    .step = 8,
                    .detail = "write /ckpt/step-000000008-g2.tmp/model: disk "
                              "full (needs 12.5 KiB, the file system of /ckpt "
                              "has 2.4 KiB free). Make room"});
  EXPECT_THAT(Judge(record).timeline.back(),
              testing::EndsWith("step 8  save failed: write model: disk full"));
}

TEST(JudgeTest, TimelineHasErrorExitsThatNoLossExplains) {
  ScriptedRun run = RefusedRun();
  const Emitter chief = WorkerProcess(0, 2);
  run.events.At(chief, K::kWorkerExited).detail = "none is valid";
  const std::vector<std::string> timeline = Judge(run.record()).timeline;
  EXPECT_THAT(timeline,
              testing::Contains(
                  "worker 0, incarnation 2  exits with 7: none is valid"));
  EXPECT_THAT(
      timeline,
      testing::Not(testing::Contains(testing::HasSubstr("exits with 75"))));
}

int64_t TimeOfFirstFault(const Record& record) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == K::kFaultFired) return event.t_ns;
    }
  }
  return 0;
}

TEST(JudgeTest, TimelineHasTheKillAtTheEndOfAGracePeriod) {
  constexpr const char* kKilled =
      "worker 1, incarnation 1  killed at the end of the grace period of "
      "fault crash-w1";
  constexpr int64_t kGrace = 2'000'000'000;
  Record record = RecoveredRun().record();
  record.faults[0].kind = "preempt";
  record.faults[0].grace_ns = kGrace;
  EXPECT_THAT(Judge(record).timeline, Not(Contains(kKilled)));
  const auto end =
      std::ranges::find_if(record.machine, [](const RecordEvent& event) {
        return event.kind == K::kProcessEnded && event.about == 1 &&
               event.incarnation == 1;
      });
  ASSERT_NE(end, record.machine.end());
  end->reason = RecordReason::kSignal;
  end->t_ns = TimeOfFirstFault(record) + kGrace;
  EXPECT_THAT(Judge(record).timeline, Contains(kKilled));
  // A kill before the end of the grace period has another cause, even if the
  // launcher observes it later.
  record.launchers.back().events.push_back(*end);
  end->t_ns -= 1;
  EXPECT_THAT(Judge(record).timeline, Not(Contains(kKilled)));
}

TEST(JudgeTest, VerdictDependsOnItsRecordAlone) {
  const Record record = RefusedRun().record();
  const Verdict first = Judge(record);
  EXPECT_NE(Judge(RunOffTheReference().record()), first);
  EXPECT_EQ(Judge(record), first);
}

TEST(JudgeTest, NamesEachBrokenInvariant) {
  Record record = RunOffTheReference().record();
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(verdict.reason, "trajectory, replicas-agree");
  EXPECT_FALSE(verdict.fails_only_expectations);
}

TEST(JudgeTest, OnlyNamedInvariantsCount) {
  Record record = RunOffTheReference().record();
  record.expect.invariants = {"store"};
  EXPECT_EQ(Judge(record).kind, VerdictKind::kPass);
  record.expect.invariants = {"store", "trajectory"};
  EXPECT_EQ(Judge(record).reason, "trajectory");
}

TEST(JudgeTest, FailsIfThePlanIsNondeterministic) {
  Record record = RecoveredRun().record();
  record.nondeterminism = "first divergence: event 3";
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(verdict.reason, HasSubstr("first divergence: event 3"));
  EXPECT_EQ(verdict.invariants.front().invariant, "deterministic");
  EXPECT_EQ(verdict.invariants.front().violations, 1u);
}

// A record without a verdict, and the reason.
struct NoVerdictCase {
  VerdictKind kind;
  const char* reason;
  std::function<void(Record&)> spoil;
};

TEST(JudgeTest, HasNoVerdictWithoutEvidence) {
  const NoVerdictCase kCases[] = {
      {VerdictKind::kSkip, "needs a GPU, found 0",
       [](Record& r) { r.skipped = "needs a GPU, found 0"; }},
      {VerdictKind::kError, "no port",
       [](Record& r) { r.harness_error = "no port"; }},
      {VerdictKind::kError, "no worker emitted an event",
       [](Record& r) { r.incarnations.clear(); }},
      {VerdictKind::kError, "never fired: crash worker 0",
       [](Record& r) {
         r.faults.push_back({.id = "x", .summary = "crash worker 0"});
       }},
      {VerdictKind::kError,
       "never fired: crash at save 9; saves begun: 2 in incarnation 1, 3 in "
       "incarnation 2",
       [](Record& r) {
         r.faults.push_back(
             {.id = "x", .summary = "crash at save 9", .in_save = true});
       }},
      {VerdictKind::kError, "grace is expected, but there was nothing to check",
       [](Record& r) { r.expect.invariants = {"grace"}; }},
  };
  for (const auto& [kind, reason, spoil] : kCases) {
    Record record = RecoveredRun().record();
    spoil(record);
    const Verdict verdict = Judge(record);
    EXPECT_EQ(verdict.kind, kind) << reason;
    EXPECT_THAT(verdict.reason, HasSubstr(reason));
  }
}

TEST(JudgeTest, HasNoVerdictWithoutAReference) {
  Record record = RecoveredRun().record();
  record.golden = {};
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(verdict.reason,
              HasSubstr("no step could be compared with the reference run"));
}

TEST(JudgeTest, ReasonStatesThatABitFlipSkipsShortFiles) {
  Record record = RecoveredRun().record();
  record.faults.push_back({.id = "flip",
                           .kind = "bit_flip",
                           .worker = "0",
                           .summary = "bit_flip worker 0 at ckpt.rename, byte "
                                      "999999 of the file",
                           .byte = 999999});
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kError);
  EXPECT_THAT(verdict.reason,
              HasSubstr("byte 999999 of the file; it skips files that end "
                        "before that byte"));
}

TEST(JudgeTest, FailsOnABrokenInvariant_EvenIfAFaultNeverFired) {
  ScriptedRun run = RunOffTheReference();
  NeverFire(run);
  EXPECT_EQ(Judge(run.record()).kind, VerdictKind::kFail);
}

TEST(JudgeTest, FailsOnAHang_EvenWithoutEvents) {
  Record record = UndisturbedRun().record();
  record.incarnations.clear();
  record.ending = RunEnding::kHung;
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(verdict.reason, HasSubstr("no-hang"));
}

TEST(JudgeTest, FailsOnABrokenExpectation) {
  const struct {
    const char* message;
    const char* met;
    std::function<void(Expectation&)> set;
  } kCases[] = {
      {"outcome: expected completes, found recovers", "outcome: recovers",
       [](Expectation& e) { e.outcome = Outcome::kCompletes; }},
      {"outcome: expected refuses, found recovers", "outcome: recovers",
       [](Expectation& e) { e.outcome = Outcome::kRefuses; }},
      {"restarts: expected exactly 2, found 1", "restarts: {exactly: 1}",
       [](Expectation& e) { e.restarts_exactly = 2; }},
      {"restarts: expected at most 0, found 1", "restarts: {max: 1}",
       [](Expectation& e) { e.restarts_max = 0; }},
      {"resumed_from: expected step 2, found step 4", "resumed_from: {step: 4}",
       [](Expectation& e) { e.resumed_from_step = 2; }},
      {"recomputed_steps: expected at most 1, found 2",
       "recomputed_steps: {max: 2}",
       [](Expectation& e) { e.recomputed_steps_max = 1; }},
      {"failed_saves: expected exactly 1, found 0",
       "failed_saves: {exactly: 0}",
       [](Expectation& e) { e.failed_saves_exactly = 1; }},
      {"ends_at.epoch: expected exactly 9, found 2", "ends_at: {epoch: 2}",
       [](Expectation& e) { e.ends_at_epoch = 9; }},
      {"ends_at.step: expected exactly 9, found 8", "ends_at: {step: 8}",
       [](Expectation& e) { e.ends_at_step = 9; }},
      {"saves: expected exactly 9, found 5", "saves: {exactly: 5}",
       [](Expectation& e) { e.saves_exactly = 9; }},
      {"checkpoints: expected the checkpoints of steps 1, 2 and 3, found those "
       "of steps 6 and 8 (twice)",
       "checkpoints: [6, 8, 8]",
       [](Expectation& e) {
         e.checkpoints_left = std::vector<uint64_t>{1, 2, 3};
       }},
      {"checkpoints: expected the checkpoints of steps 6 and 8, found those of "
       "steps 6 and 8 (twice)",
       "checkpoints: [6, 8, 8]",
       [](Expectation& e) {
         e.checkpoints_left = std::vector<uint64_t>{6, 8};
       }},
      {"checkpoints: expected none, found those of steps 6 and 8 (twice)",
       "checkpoints: [6, 8, 8]",
       [](Expectation& e) { e.checkpoints_left.emplace(); }},
      {"epochs_after_restart: expected exactly 9, found 2",
       "epochs_after_restart: {exactly: 2}",
       [](Expectation& e) { e.epochs_after_restart_exactly = 9; }},
      {"exit_code: expected 143, found 0", "exit_code: 0",
       [](Expectation& e) { e.exit_code = 143; }},
  };
  for (const auto& [message, met, set] : kCases) {
    Record record = RecoveredRun().record();
    set(record.expect);
    const Verdict verdict = Judge(record);
    EXPECT_EQ(verdict.kind, VerdictKind::kFail) << message;
    ASSERT_EQ(verdict.broken_expectations.size(), 1u) << message;
    EXPECT_EQ(verdict.broken_expectations[0].message, message);
    EXPECT_EQ(verdict.broken_expectations[0].met, met);
    EXPECT_TRUE(verdict.fails_only_expectations) << message;
    record.nondeterminism = "event 3";
    EXPECT_FALSE(Judge(record).fails_only_expectations) << message;
  }
}

TEST(JudgeTest, UnmetOutcomeNamesTheRequeue) {
  Record record = PreemptedRun().record();
  record.expect.outcome = Outcome::kCompletes;
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.facts.restarts, 1u);
  EXPECT_EQ(verdict.facts.requeues, 1u);
  ASSERT_EQ(verdict.broken_expectations.size(), 1u);
  EXPECT_EQ(verdict.broken_expectations[0].message,
            "outcome: expected completes, found recovers (the launcher exited "
            "with code 143, and the job was started again)");
  EXPECT_EQ(verdict.broken_expectations[0].met, "outcome: recovers");
  record.launchers.back().planned = 1;
  EXPECT_EQ(Judge(record).facts.requeues, 0u) << "a planned start";
}

TEST(JudgeTest, UsesTheSingularForOneCheckpoint) {
  Record record = RecoveredRun().record();
  record.expect.checkpoints_left = std::vector<uint64_t>{4};
  std::vector<StoredCheckpoint>& left = record.left.checkpoints;
  std::erase_if(left,
                [](const StoredCheckpoint& one) { return one.step != 8; });
  const auto message = [&record] {
    const Verdict verdict = Judge(record);
    return verdict.broken_expectations.at(0).message;
  };
  EXPECT_EQ(message(),
            "checkpoints: expected the checkpoint of step 4, found that of "
            "step 8 (twice)");
  left.pop_back();
  EXPECT_EQ(message(),
            "checkpoints: expected the checkpoint of step 4, found that of "
            "step 8");
  left.clear();
  EXPECT_EQ(message(),
            "checkpoints: expected the checkpoint of step 4, found none");
}

TEST(JudgeTest, RunWithoutAResultEndsAtNoEpochOrStep) {
  Record record = RecoveredRun().record();
  record.launchers.back().result.reset();
  record.expect.ends_at_epoch = 9;
  record.expect.ends_at_step = 8;
  std::vector<std::string> messages;
  for (const Finding& finding : Judge(record).broken_expectations) {
    if (!finding.name.starts_with("ends_at")) continue;
    messages.push_back(finding.message);
    EXPECT_EQ(finding.met, "no ends_at");
  }
  EXPECT_THAT(messages,
              ElementsAre("ends_at.epoch: expected exactly 9, found no result",
                          "ends_at.step: expected exactly 8, found no result"));
}

TEST(JudgeTest, HangMeetsNoOutcome) {
  Record record = UndisturbedRun().record();
  record.incarnations.clear();
  record.ending = RunEnding::kHung;
  const Verdict verdict = Judge(record);
  ASSERT_FALSE(verdict.broken_expectations.empty());
  EXPECT_EQ(verdict.broken_expectations[0].message,
            "outcome: expected completes, found none, as the run hung");
  EXPECT_EQ(verdict.broken_expectations[0].met, std::nullopt);
  record.ending = RunEnding::kTimedOut;
  EXPECT_EQ(Judge(record).broken_expectations.at(0).message,
            "outcome: expected completes, found none, as the run timed out");
}

TEST(JudgeTest, HasNoVerdictOnRestarts_WithoutARestart) {
  const struct {
    const char* reason;
    std::function<void(Expectation&)> set;
  } kCases[] = {
      {"recomputed_steps is expected, but nothing was restarted",
       [](Expectation& e) { e.recomputed_steps_max = 0; }},
      {"epochs_after_restart is expected, but nothing was restarted",
       [](Expectation& e) { e.epochs_after_restart_exactly = 0; }},
  };
  for (const auto& [reason, set] : kCases) {
    Record record = UndisturbedRun().record();
    ASSERT_EQ(Judge(record).kind, VerdictKind::kPass);
    set(record.expect);
    const Verdict verdict = Judge(record);
    EXPECT_EQ(verdict.kind, VerdictKind::kError);
    EXPECT_EQ(verdict.reason, reason);
  }
}

TEST(JudgeTest, Fails_IfAnExpectedProgressIsMissing) {
  Record record = RecoveredRun().record();
  record.expect.loss_falls = true;
  record.expect.accuracy_rises = true;
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (RecordEvent& event : incarnation.events) {
      if (event.kind != RecordKind::kEpochEnd) continue;
      event.loss_bits = std::bit_cast<uint32_t>(0.5f);
      event.count = 7;
    }
  }
  std::vector<std::string> messages;
  for (const Finding& finding : Judge(record).broken_expectations) {
    messages.push_back(finding.message);
  }
  EXPECT_THAT(
      messages,
      ElementsAre("loss: expected less than 0.5 (0x3f000000), found 0.5 "
                  "(0x3f000000)",
                  "accuracy: expected more than 7 correct, found 7"));
}

TEST(JudgeTest, SingleEpoch_ShowsNoProgress) {
  Record record = RecoveredRun().record();
  record.expect.loss_falls = true;
  record.expect.accuracy_rises = true;
  for (IncarnationEvents& incarnation : record.incarnations) {
    std::erase_if(incarnation.events, [](const RecordEvent& event) {
      return event.kind == RecordKind::kEpochEnd && event.epoch > 0;
    });
  }
  std::vector<std::string> messages;
  for (const Finding& finding : Judge(record).broken_expectations) {
    messages.push_back(finding.message);
  }
  EXPECT_THAT(
      messages,
      ElementsAre(
          "loss: expected a falling loss, found fewer than two epochs",
          "accuracy: expected a rising accuracy, found fewer than two epochs"));
}

TEST(JudgeTest, LossThatIsNotFinite_DoesNotFall) {
  Record record = RecoveredRun().record();
  record.expect.loss_falls = true;
  for (IncarnationEvents& incarnation : record.incarnations) {
    for (RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kEpochEnd) event.loss_bits = 0x7fc00000;
    }
  }
  const Verdict verdict = Judge(record);
  ASSERT_EQ(verdict.broken_expectations.size(), 1u);
  EXPECT_EQ(verdict.broken_expectations[0].message,
            "loss: expected a finite, falling loss, found nan (0x7fc00000)");
}

Record MutationTest(const ScriptedRun& run, std::vector<std::string> named) {
  Record record = run.record();
  record.expect = {.outcome = Outcome::kViolates,
                   .invariants = std::move(named)};
  return record;
}

TEST(JudgeTest, MutationTestPasses_IfAllNamedInvariantsAreBroken) {
  const Verdict verdict =
      Judge(MutationTest(RunOffTheReference(), {"trajectory"}));
  EXPECT_EQ(verdict.kind, VerdictKind::kPass);
  EXPECT_EQ(verdict.reason,
            "planted bug caught, as it should be; also by replicas-agree");
}

TEST(JudgeTest, MutationTestFails_IfNothingIsFound) {
  Record record = MutationTest(RecoveredRun(), {"trajectory"});
  record.expect.restarts_max = 0;
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(verdict.reason, "the planted bug was not caught by trajectory");
  EXPECT_EQ(verdict.broken_expectations.size(), 1U);
  EXPECT_FALSE(verdict.fails_only_expectations);
}

TEST(JudgeTest, MutationTestFails_IfOnlyAnotherInvariantIsBroken) {
  const Verdict verdict = Judge(MutationTest(RunOffTheReference(), {"store"}));
  EXPECT_EQ(verdict.kind, VerdictKind::kFail);
  EXPECT_EQ(verdict.reason,
            "the planted bug was not caught by store, but by trajectory, "
            "replicas-agree");
}

TEST(JudgeTest, FailedMutationTest_ReportsTheMissingResume) {
  EXPECT_THAT(Judge(MutationTest(UndisturbedRun(), {"trajectory"})).reason,
              HasSubstr("nothing was restarted or resumed"));
}

TEST(JudgeTest, FailedMutationTest_CountsAResumeFromMemory) {
  Record record = MutationTest(RejoinedRun(), {"trajectory"});
  LauncherRun& launcher = record.launchers.at(0);
  launcher.restarts = 0;
  std::erase_if(launcher.events, [](const RecordEvent& event) {
    return event.kind == K::kRestarting;
  });
  const Verdict verdict = Judge(record);
  ASSERT_EQ(verdict.facts.restarts, 0U);
  ASSERT_EQ(verdict.facts.resumed_from_memory, 6U);
  EXPECT_EQ(verdict.reason, "the planted bug was not caught by trajectory");
}

TEST(JudgeTest, MutationTestHasNoVerdict_IfItsFaultNeverFired) {
  ScriptedRun run = RunOffTheReference();
  NeverFire(run);
  EXPECT_EQ(Judge(MutationTest(run, {"trajectory"})).kind, VerdictKind::kError);
}

}  // namespace
}  // namespace gauntlet
