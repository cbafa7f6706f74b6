#include "harness/run/failure/old_resume.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using K = RecordKind;
using testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;
constexpr const char* kEight = "/ckpt/step-000000008-g1";
constexpr const char* kTwelve = "/ckpt/step-000000012-g1";
constexpr const char* kThenResumed =
    "; when worker 2 was killed, the run resumed from step 8";

// Returns a run that expects to resume from step 12 and resumes from step 8.
// Its save of step 8 takes 620 ms. That of step 12 begins at 1,000 ms, and
// worker 2 is killed 575 ms later.
Record LateSaveRun() {
  Record record;
  record.expect.resumed_from_step = 12;
  record.faults = {
      {.id = "slowdisk", .kind = "slow", .in_save = true, .always = true}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = K::kGeneration, .t_ns = 1, .generation = 1},
                  {.kind = K::kInitialized, .t_ns = 2, .generation = 1},
                  {.kind = K::kSaveBegin,
                   .t_ns = 100 * kMs,
                   .step = 8,
                   .path = kEight},
                  {.kind = K::kFaultFired,
                   .t_ns = 101 * kMs,
                   .step = 9,
                   .path = "ckpt.shard.open",
                   .detail = "slowdisk"},
                  {.kind = K::kSaveAcknowledged,
                   .t_ns = 720 * kMs,
                   .step = 8,
                   .path = kEight},
                  {.kind = K::kSaveBegin,
                   .t_ns = 1'000 * kMs,
                   .step = 12,
                   .path = kTwelve},
                  {.kind = K::kFaultAgain,
                   .t_ns = 1'001 * kMs,
                   .step = 13,
                   .path = "ckpt.shard.open",
                   .detail = "slowdisk"},
                  {.kind = K::kStep, .t_ns = 1'500 * kMs, .step = 14}}},
      {.worker = 0,
       .number = 2,
       .events = {
           {.kind = K::kGeneration, .t_ns = 2'000 * kMs, .generation = 2},
           {.kind = K::kResumed,
            .t_ns = 2'001 * kMs,
            .generation = 2,
            .step = 8,
            .path = kEight}}}};
  record.launchers = {{.events = {{.kind = K::kExited,
                                   .t_ns = 1'575 * kMs,
                                   .count = 137,
                                   .about = 2,
                                   .incarnation = 1,
                                   .reason = RecordReason::kSignal},
                                  {.kind = K::kExited,
                                   .t_ns = 1'600 * kMs,
                                   .count = 75,
                                   .about = 0,
                                   .incarnation = 1,
                                   .reason = RecordReason::kExited}}}};
  return record;
}

std::vector<RecordEvent>& FirstIncarnation(Record& record) {
  return record.incarnations[0].events;
}

Verdict Unmet(const std::string& expectation) {
  return {.broken_expectations = {{.invariant = "expectation",
                                   .name = expectation,
                                   .message = ""}},
          .facts = {.resumed_from = 8, .max_recomputed_steps = 6}};
}

std::string CauseOf(const Record& record,
                    const std::string& unmet = "resumed_from") {
  return ExplainOldResume(Outline(record), Unmet(unmet));
}

constexpr const char* kLate =
    "fault slowdisk (slow) delayed the save of step 12, which was still being "
    "written when worker 2 was killed, 575 ms after the save began; the save "
    "of step 8 took 620 ms";

TEST(OldResumeTest, SaveThatAKillCutShortIsTheCause) {
  const Record record = LateSaveRun();
  EXPECT_EQ(CauseOf(record, "resumed_from"), kLate);
  EXPECT_EQ(CauseOf(record, "recomputed_steps"), kLate);
}

// The kill is planned before the save begins, and comes 585 ms later.
TEST(OldResumeTest, FaultThatEndedTheProcessInTheSaveIsNamed) {
  Record record = LateSaveRun();
  record.faults.push_back({.id = "k",
                           .kind = "kill",
                           .summary = "kill worker 2 at step.end, 585ms later",
                           .latency_ns = 585 * kMs});
  record.incarnations.push_back({.worker = 2,
                                 .number = 1,
                                 .events = {{.kind = K::kFaultFired,
                                             .t_ns = 990 * kMs,
                                             .step = 12,
                                             .path = "step.end",
                                             .detail = "k"},
                                            {.kind = K::kFaultFired,
                                             .t_ns = 1'200 * kMs,
                                             .step = 12,
                                             .path = "ckpt.shard.open",
                                             .detail = "slowdisk"}}});
  EXPECT_THAT(CauseOf(record),
              HasSubstr("when worker 2 was killed because of fault k (kill "
                        "worker 2 at step.end, 585ms later), 575 ms after"));
  record.incarnations.back().worker = 1;
  EXPECT_THAT(CauseOf(record), HasSubstr("when worker 2 was killed, 575 ms"));
}

// The launcher observes the death only after another worker has begun a save.
TEST(OldResumeTest, SaveThatBeganAfterTheFault_WasNotCutShortByIt) {
  Record record = LateSaveRun();
  record.faults.push_back(
      {.id = "k", .kind = "kill", .summary = "kill worker 2 at step.end"});
  record.incarnations.push_back({.worker = 2,
                                 .number = 1,
                                 .events = {{.kind = K::kFaultFired,
                                             .t_ns = 990 * kMs,
                                             .step = 12,
                                             .path = "step.end",
                                             .detail = "k"}}});
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 began only after fault k (kill worker 2 at "
            "step.end) had fired");
  record.incarnations.back().events.push_back(
      {.kind = K::kStep, .t_ns = 500 * kMs, .step = 12});
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 began only after fault k (kill worker 2 at "
            "step.end) had fired; it waited for the previous save: fault "
            "slowdisk (slow) delayed the save of step 8, which took 620 ms");
}

TEST(OldResumeTest, MetExpectationNeedsNoCause) {
  Record record = LateSaveRun();
  EXPECT_EQ(CauseOf(record, "restarts"), "");
  record.expect.resumed_from_step = 4;
  EXPECT_EQ(CauseOf(record), "") << "the resume is newer than expected";
}

TEST(OldResumeTest, FaultThatDidNotFireInTheSaveIsNotNamed) {
  Record record = LateSaveRun();
  FirstIncarnation(record)[6].t_ns = 999 * kMs;
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 was still being written when worker 2 was "
            "killed, 575 ms after the save began; the save of step 8 took "
            "620 ms");
}

TEST(OldResumeTest, FaultOutsideOfSavesIsNotNamed) {
  Record record = LateSaveRun();
  record.faults[0].in_save = false;
  EXPECT_EQ(CauseOf(record).find("slowdisk"), std::string::npos);
}

// Even without the fault, the save would have taken longer than the time until
// the kill.
TEST(OldResumeTest, DelayThatMadeNoDifference_IsNotNamed) {
  Record record = LateSaveRun();
  record.faults[0].always = false;
  record.faults[0].latency_ns = 1 * kMs;
  EXPECT_EQ(CauseOf(record).find("slowdisk"), std::string::npos);
  record.faults[0].latency_ns = 600 * kMs;
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 was still being written when worker 2 was "
            "killed, 575 ms after the save began; the save of step 8 took "
            "620 ms, so even without fault slowdisk (slow, 600ms) this save "
            "would have taken longer than 575 ms");
  // The fault may have delayed the save before, too.
  record.faults[0].latency_ns = 1 * kMs;
  record.faults[0].always = true;
  EXPECT_THAT(CauseOf(record),
              HasSubstr("fault slowdisk (slow, 1ms) delayed the save"));
}

// The launcher reports the end of a process late. What counts is the fault that
// ended it, 20 ms after the begin of the save.
TEST(OldResumeTest, SaveThatHadRunForAShortTime_WasNotLate) {
  Record record = LateSaveRun();
  record.faults[0].always = false;
  record.faults[0].latency_ns = 3'000 * kMs;
  record.faults.push_back(
      {.id = "k", .kind = "kill", .summary = "kill worker 2 at step.begin"});
  record.incarnations.push_back({.worker = 2,
                                 .number = 1,
                                 .events = {{.kind = K::kFaultFired,
                                             .t_ns = 1'020 * kMs,
                                             .step = 13,
                                             .path = "step.begin",
                                             .detail = "k"}}});
  record.launchers[0].events[0].t_ns = 1'700 * kMs;
  EXPECT_THAT(CauseOf(record),
              HasSubstr("the save of step 12 was still being written when "
                        "worker 2 was killed because of fault k (kill worker 2 "
                        "at step.begin), 20 ms after the save began; the save "
                        "of step 8 took 620 ms"));
}

TEST(OldResumeTest, FirstEndIsNamed) {
  Record record = LateSaveRun();
  record.machine = {
      {.kind = K::kPowerCut, .t_ns = 1'400 * kMs, .path = "w0.1"}};
  EXPECT_EQ(CauseOf(record),
            "fault slowdisk (slow) delayed the save of step 12, which was "
            "still being written when all hosts lost power, 400 ms after the "
            "save began; the save of step 8 took 620 ms");
}

TEST(OldResumeTest, PowerLoss_IsNamedInsteadOfItsExits) {
  Record record = LateSaveRun();
  record.machine = {{.kind = K::kPowerCut,
                     .t_ns = record.launchers[0].events[0].t_ns,
                     .path = "w0.1"}};
  EXPECT_THAT(CauseOf(record), HasSubstr("when all hosts lost power, 575 ms"));
}

TEST(OldResumeTest, EndOfTheSaveIsDescribed) {
  Record record = LateSaveRun();
  RecordEvent& end = record.launchers[0].events[0];
  end.reason = RecordReason::kExited;
  end.count = 70;
  EXPECT_THAT(CauseOf(record), HasSubstr("when worker 2 exited with code 70,"));
  end.reason = RecordReason::kUnreachable;
  EXPECT_THAT(CauseOf(record),
              HasSubstr("when worker 2 could no longer be reached,"));
  end.reason = RecordReason::kSignal;
  end.about = kLauncherWorker;
  EXPECT_THAT(CauseOf(record), HasSubstr("when the launcher was killed,"));
}

TEST(OldResumeTest, OnlyEndsDuringTheSaveAreNamed) {
  Record record = LateSaveRun();
  record.launchers[0].events[0].t_ns = 999 * kMs;
  record.launchers[0].events[1].t_ns = 2'002 * kMs;
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 began and was not acknowledged");
}

TEST(OldResumeTest, RetriedSave_IsTheInterruptedOne) {
  Record record = LateSaveRun();
  FirstIncarnation(record).push_back(
      {.kind = K::kSaveFailed, .t_ns = 1'510 * kMs, .step = 12});
  FirstIncarnation(record).push_back({.kind = K::kSaveBegin,
                                      .t_ns = 1'570 * kMs,
                                      .step = 12,
                                      .path = kTwelve});
  EXPECT_EQ(CauseOf(record),
            "the save of step 12 was still being written when worker 2 was "
            "killed, 5.0 ms after the save began; the save of step 8 took "
            "620 ms");
}

TEST(OldResumeTest, FirstSaveHasNoneBeforeIt) {
  Record record = LateSaveRun();
  std::vector<RecordEvent>& events = FirstIncarnation(record);
  std::erase_if(events,
                [](const RecordEvent& event) { return event.step == 8; });
  EXPECT_EQ(CauseOf(record),
            "fault slowdisk (slow) delayed the save of step 12, which was "
            "still being written when worker 2 was killed, 575 ms after "
            "the save began");
}

TEST(OldResumeTest, ColdStartIsExplainedToo) {
  Record record = LateSaveRun();
  record.incarnations[1].events[1] = {
      .kind = K::kInitialized, .t_ns = 2'001 * kMs, .generation = 2};
  record.incarnations[1].events.push_back(
      {.kind = K::kStep, .t_ns = 2'100 * kMs, .generation = 2, .step = 1});
  Verdict verdict = Unmet("resumed_from");
  verdict.facts = {.resumed_from = std::nullopt, .max_recomputed_steps = 14};
  EXPECT_EQ(ExplainOldResume(Outline(record), verdict), kLate);
}

TEST(OldResumeTest, AcknowledgedSaveIsNoCause) {
  Record record = LateSaveRun();
  FirstIncarnation(record).push_back({.kind = K::kSaveAcknowledged,
                                      .t_ns = 1'510 * kMs,
                                      .step = 12,
                                      .path = kTwelve});
  EXPECT_EQ(CauseOf(record), "");
}

TEST(OldResumeTest, FailedSaveIsTheCause) {
  Record record = LateSaveRun();
  FirstIncarnation(record).push_back(
      {.kind = K::kSaveFailed, .t_ns = 1'510 * kMs, .step = 12});
  EXPECT_EQ(CauseOf(record),
            std::string("the save of step 12 failed") + kThenResumed);
}

// Returns LateSaveRun() with two failed saves, of steps 10 and 11, before that
// of step 12. The run expects to resume from step 10. An errno fault makes both
// saves fail; a fault of the network fires too.
Record FailedSavesRun() {
  Record record = LateSaveRun();
  record.expect.resumed_from_step = 10;
  record.faults.push_back({.id = "full", .kind = "errno", .in_save = true});
  record.faults.push_back({.id = "cut", .kind = "partition"});
  std::vector<RecordEvent>& events = FirstIncarnation(record);
  for (const uint64_t step : {10, 11}) {
    const int64_t begin_ns = static_cast<int64_t>(step) * 80 * kMs;
    events.push_back({.kind = K::kSaveBegin, .t_ns = begin_ns, .step = step});
    events.push_back({.kind = K::kFaultFired,
                      .t_ns = begin_ns + kMs,
                      .step = step + 2,
                      .path = "ckpt.manifest.write",
                      .detail = "full"});
    events.push_back({.kind = K::kFaultFired,
                      .t_ns = begin_ns + kMs,
                      .step = step + 2,
                      .path = "step.begin",
                      .detail = "cut"});
    events.push_back(
        {.kind = K::kSaveFailed,
         .t_ns = begin_ns + 2 * kMs,
         .step = step,
         .detail = "/ckpt/step-000000010-g1.tmp/MANIFEST.json: "
                   "ckpt.manifest.write: injected ENOSPC (needs 2 KiB)"});
  }
  std::ranges::stable_sort(events, {}, &RecordEvent::t_ns);
  return record;
}

TEST(OldResumeTest, FailedSaves_AreNamedBeforeALaterInterruptedOne) {
  Record record = FailedSavesRun();
  const std::string failed =
      "the saves of steps 10 and 11 failed: fault full (ENOSPC in "
      "MANIFEST.json)";
  EXPECT_EQ(CauseOf(record), failed + "; " + kLate);
  record.expect.resumed_from_step = 12;
  EXPECT_EQ(CauseOf(record), std::string(kLate) + "; " + failed)
      << "the save that was expected to be resumed from is the first";
}

TEST(OldResumeTest, FailedSaveComesBeforeALaterDamagedCheckpoint) {
  Record record = FailedSavesRun();
  FirstIncarnation(record).push_back({.kind = K::kSaveAcknowledged,
                                      .t_ns = 1'510 * kMs,
                                      .step = 12,
                                      .path = kTwelve});
  FirstIncarnation(record).push_back(
      {.kind = K::kDamaged,
       .t_ns = 1'505 * kMs,
       .path = std::string(kTwelve) + ".tmp/model.safetensors",
       .detail = "rot"});
  EXPECT_EQ(
      CauseOf(record),
      std::string("the saves of steps 10 and 11 failed: fault full (ENOSPC in "
                  "MANIFEST.json); model.safetensors of step-000000012-g1 was "
                  "damaged by fault rot") +
          kThenResumed);
}

TEST(OldResumeTest, SavesOfAnEarlierGenerationAreNoCause) {
  Record record = FailedSavesRun();
  // The run resumes a second time, from step 8 again. Only this resume computes
  // 6 steps again.
  record.incarnations[1].events.push_back(
      {.kind = K::kStep, .t_ns = 2'100 * kMs, .generation = 2, .step = 14});
  record.incarnations.push_back(
      {.worker = 0,
       .number = 3,
       .events = {
           {.kind = K::kGeneration, .t_ns = 3'000 * kMs, .generation = 3},
           {.kind = K::kResumed,
            .t_ns = 3'001 * kMs,
            .generation = 3,
            .step = 8,
            .path = kEight}}});
  for (RecordEvent& event : FirstIncarnation(record)) {
    if (event.kind == K::kStep) event.step = 9;
  }
  EXPECT_EQ(CauseOf(record, "recomputed_steps"), "");
}

// Returns LateSaveRun() with a save of step 12 that is acknowledged.
Record SavedRun() {
  Record record = LateSaveRun();
  FirstIncarnation(record).push_back({.kind = K::kSaveAcknowledged,
                                      .t_ns = 1'510 * kMs,
                                      .step = 12,
                                      .path = kTwelve});
  return record;
}

TEST(OldResumeTest, DamagedCheckpointIsTheCause) {
  Record record = SavedRun();
  FirstIncarnation(record).push_back(
      {.kind = K::kDamaged,
       .t_ns = 1'505 * kMs,
       .path = std::string(kTwelve) + ".tmp/model.safetensors",
       .detail = "rot"});
  EXPECT_EQ(
      CauseOf(record),
      std::string(
          "model.safetensors of step-000000012-g1 was damaged by fault rot") +
          kThenResumed);
}

TEST(OldResumeTest, RejectionOfADamagedCheckpointHasItsReason) {
  Record record = SavedRun();
  FirstIncarnation(record).push_back(
      {.kind = K::kDamaged,
       .t_ns = 1'505 * kMs,
       .path = std::string(kTwelve) + ".tmp/model.safetensors",
       .detail = "cut"});
  std::vector<RecordEvent>& restarted = record.incarnations[1].events;
  restarted.insert(
      restarted.begin(),
      RecordEvent{.kind = K::kRejected,
                  .t_ns = 1'990 * kMs,
                  .path = kTwelve,
                  .detail = "model.safetensors: expected 9 bytes, found 5"});
  EXPECT_EQ(
      CauseOf(record),
      std::string(
          "model.safetensors of step-000000012-g1 was damaged by fault cut, "
          "and the run rejected that checkpoint (expected 9 bytes, found 5)") +
          kThenResumed);
}

TEST(OldResumeTest, DamageAfterTheResumeIsNoCause) {
  Record record = SavedRun();
  record.incarnations[1].events.push_back(
      {.kind = K::kDamaged,
       .t_ns = 2'100 * kMs,
       .path = std::string(kTwelve) + "/model.safetensors",
       .detail = "rot"});
  EXPECT_EQ(CauseOf(record), "");
}

TEST(OldResumeTest, CheckpointWithoutRemainsIsTheCause) {
  Record record = SavedRun();
  record.left.store_listed = true;
  record.incarnations[1].events[0].path = kEight;  // the claim takes this one
  EXPECT_EQ(
      CauseOf(record),
      std::string(
          "step-000000012-g1 was acknowledged, but nothing of it remained") +
          kThenResumed);
}

TEST(OldResumeTest, RejectedCheckpointIsTheCause) {
  Record record = SavedRun();
  std::vector<RecordEvent>& restarted = record.incarnations[1].events;
  restarted.insert(restarted.begin(), RecordEvent{.kind = K::kRejected,
                                                  .t_ns = 1'990 * kMs,
                                                  .path = kTwelve,
                                                  .detail = "no manifest"});
  EXPECT_EQ(CauseOf(record),
            std::string("step-000000012-g1 was rejected (no manifest)") +
                kThenResumed);
}

// The newest checkpoint is damaged, and only that of step 4 is left.
TEST(OldResumeTest, DamageThatKeepsAFullDiskFull_IsNamed) {
  Record record;
  record.expect.resumed_from_step = 12;
  record.incarnations = {
      {.number = 1,
       .events = {{.kind = K::kInitialized, .t_ns = 1, .generation = 1},
                  {.kind = K::kSaveBegin, .t_ns = 10, .step = 4},
                  {.kind = K::kSaveAcknowledged,
                   .t_ns = 20,
                   .step = 4,
                   .path = "/ckpt/step-000000004-g1"},
                  {.kind = K::kSaveBegin, .t_ns = 30, .step = 8},
                  {.kind = K::kDamaged,
                   .t_ns = 35,
                   .path = "/ckpt/step-000000008-g1.tmp/MANIFEST.json",
                   .detail = "flip"},
                  {.kind = K::kSaveAcknowledged,
                   .t_ns = 40,
                   .step = 8,
                   .path = kEight},
                  {.kind = K::kSaveBegin, .t_ns = 50, .step = 12},
                  {.kind = K::kSaveFailed,
                   .t_ns = 60,
                   .step = 12,
                   .detail = "/ckpt/MANIFEST.json: injected ENOSPC"}}},
      {.number = 2,
       .events = {
           {.kind = K::kResumed, .t_ns = 90, .generation = 2, .step = 4}}}};
  EXPECT_THAT(CauseOf(record),
              testing::StartsWith(
                  "the save of step 12 failed: ENOSPC in MANIFEST.json, and no "
                  "checkpoint could be deleted to make room, as "
                  "step-000000008-g1 was damaged; MANIFEST.json of "
                  "step-000000008-g1 was damaged by fault flip"));
}

}  // namespace
}  // namespace gauntlet
