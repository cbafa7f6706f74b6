// Changes of a scenario after which its run meets the expectations.
#include "harness/run/failure/remedy/remedies.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/worker_exit_code.h"
#include "harness/run/failure/remedy/restart_remedy.h"

namespace gauntlet {
namespace {

// Returns a complete run of two epochs that saves every 4 steps. A crash of
// worker 1 in step 6 ended attempt 1.
Record CrashedRun() {
  Record record;
  record.setup.save_interval_steps = 4;
  record.setup.keep = 2;
  record.setup.epochs = 2;
  record.setup.max_restarts = 3;
  record.faults = {{.id = "c", .kind = "crash", .step = 6}};
  record.incarnations = {
      {.worker = 1,
       .number = 1,
       .events = {
           {.kind = RecordKind::kFaultFired, .t_ns = 11, .detail = "c"}}}};
  record.launchers = {
      {.restarts = 1,
       .result = FinalResult{.status = "done", .epochs = 2, .steps = 12},
       .events = {{.kind = RecordKind::kLauncherBegin, .t_ns = 1},
                  {.kind = RecordKind::kExited,
                   .t_ns = 12,
                   .count = 70,
                   .about = 1,
                   .incarnation = 1,
                   .reason = RecordReason::kExited},
                  {.kind = RecordKind::kAttemptEnds,
                   .t_ns = 13,
                   .reason = RecordReason::kWorkerLeft},
                  {.kind = RecordKind::kRestarting, .t_ns = 14},
                  {.kind = RecordKind::kLauncherEnd, .t_ns = 30}}}};
  return record;
}

std::string RemedyFor(Record record, const Expectation& expect,
                      const std::vector<std::string>& unmet) {
  record.expect = expect;
  Verdict verdict = {.facts = {.restarts = 1, .resumed_from = 4}};
  for (const std::string& name : unmet) {
    verdict.broken_expectations.push_back({"expectation", name, "m"});
  }
  return RemedyForUnmet(Outline(record), verdict);
}

TEST(RemediesTest, EachExpectationHasAChangeOfTheScenario) {
  struct RemedyCase {
    Expectation expect;
    std::vector<std::string> unmet;
    const char* remedy;
  };
  const RemedyCase kCases[] = {
      {{}, {"outcome"}, "remove fault c, which ended attempt 1"},
      {{.restarts_max = 0},
       {"outcome", "restarts"},
       "remove fault c, which ended attempt 1"},
      {{.outcome = Outcome::kGivesUp},
       {"outcome"},
       "lower cluster.restart.max (3) to 0, as the run needs 1 restart"},
      {{.outcome = Outcome::kGivesUp, .restarts_exactly = 2},
       {"outcome", "restarts"},
       "let a fault end each attempt (at: {incarnation: any}, with: {repeat: "
       "always}), and set cluster.restart.max (3) to 2"},
      {{.outcome = Outcome::kGivesUp, .restarts_exactly = 3},
       {"outcome", "restarts"},
       "let a fault end each attempt (at: {incarnation: any}, with: {repeat: "
       "always})"},
      {{.outcome = Outcome::kStopsCleanly},
       {"outcome"},
       "add a preemption notice (do: preempt) before the last step, and set "
       "preemption.requeue to 0, so that the job does not start again after "
       "its stop"},
      {{.outcome = Outcome::kRetryLater},
       {"outcome"},
       "let each save fail (at: {point: ckpt.shard.open, incarnation: any}, "
       "do: errno, with: {error: ENOSPC, repeat: always}), or lower "
       "disk.capacity; and set preemption.requeue to 0, as each start tries to "
       "save for about half a minute before it gives up"},
      {{.outcome = Outcome::kStopsOnNan},
       {"outcome"},
       "set job.stop_on_nan to true, and raise job.optimizer.lr until the loss "
       "is not finite"},
      {{.outcome = Outcome::kRefuses},
       {"outcome"},
       "let faults damage every checkpoint before the restart "
       "(checkpoint.keep is 2), as the run resumes from any intact one"},
      {{.restarts_exactly = 3},
       {"restarts"},
       "add a fault that ends a worker (do: crash) in each of incarnations 2 "
       "and 3"},
      {{.restarts_exactly = 2},
       {"restarts"},
       "add a fault that ends a worker (do: crash) in incarnation 2"},
      {{.resumed_from_step = 8},
       {"resumed_from"},
       "set the step of fault c (6) to a value from 9 to 12, so that the save "
       "of step 8 comes before it"},
      {{.resumed_from_step = 0},
       {"resumed_from"},
       "set the step of fault c (6) to 4 or earlier, so that it comes before "
       "the save of step 4"},
      {{.resumed_from_step = 6},
       {"resumed_from"},
       "set checkpoint.every (4 steps) to {steps: 6}, and set the step of "
       "fault c (6) to a value from 7 to 12"},
      {{.resumed_from_step = 3},
       {"resumed_from"},
       "set checkpoint.every (4 steps) to {steps: 3}"},
      {{.recomputed_steps_max = 1},
       {"recomputed_steps"},
       "lower checkpoint.every (4 steps) to {steps: 1}"},
      {{.failed_saves_exactly = 1},
       {"failed_saves"},
       "let a fault fail one more save (do: errno at ckpt.shard.open)"},
      {{.failed_saves_exactly = 2},
       {"failed_saves"},
       "let faults fail 2 more saves (do: errno at ckpt.shard.open)"},
      // cluster.restart.max is at most 1000.
      {{.restarts_exactly = 10'000}, {"restarts"}, ""},
      {{.restarts_exactly = 1000},
       {"restarts"},
       "add a fault that ends a worker (do: crash) in each of incarnations 2 "
       "to 1000, and raise cluster.restart.max (3) to 1000"},
      {{.restarts_exactly = 5},
       {"restarts"},
       "add a fault that ends a worker (do: crash) in each of incarnations 2 "
       "to 5, and raise cluster.restart.max (3) to 5"},
      {{.ends_at_epoch = 3}, {"ends_at.epoch"}, "set job.epochs (2) to 3"},
      // job.epochs is at most 1000000.
      {{.ends_at_epoch = 2'000'000}, {"ends_at.epoch"}, ""},
      {{.ends_at_step = 60'000'000}, {"ends_at.step"}, ""},
      {{.ends_at_step = 9}, {"ends_at.step"}, "set job.max_steps to 9"},
      {{.ends_at_step = 20},
       {"ends_at.step"},
       "set job.epochs (2) to 4 and job.max_steps to 20"},
      // The run deletes no checkpoint, and acknowledged no save of step 3.
      {{.checkpoints_left = std::vector<uint64_t>{3}},
       {"checkpoints"},
       "change checkpoint.every (4 steps) or job.epochs (2), which set when "
       "saves are due"},
      {{},
       {"saves"},
       "change checkpoint.every (4 steps) or job.epochs (2), which set when "
       "saves are due"},
      {{},
       {"epochs_after_restart"},
       "move fault c to another epoch, as each epoch that ends after the "
       "restart counts"},
      {{},
       {"loss", "accuracy"},
       "train longer (job.epochs is 2) or change job.optimizer.lr, as training "
       "without faults gives the same values"},
      {{}, {"exit_code"}, ""},
  };
  for (const auto& [expect, unmet, remedy] : kCases) {
    EXPECT_EQ(RemedyFor(CrashedRun(), expect, unmet), remedy) << unmet.front();
  }
}

TEST(RemediesTest, SeveralUnmet_AdvisesTheChangeForTheResumeFirst) {
  EXPECT_EQ(RemedyFor(CrashedRun(), {.restarts_max = 0, .resumed_from_step = 8},
                      {"outcome", "restarts", "resumed_from"}),
            "set the step of fault c (6) to a value from 9 to 12, so that the "
            "save of step 8 comes before it; then run the scenario again, as "
            "outcome, restarts may still be unmet");
}

// job.max_steps ended the run in its second epoch of 6 steps.
TEST(RemediesTest, EndByMaxSteps_NeedsMoreEpochsOnlyBeyondTheLastOne) {
  Record record = CrashedRun();
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kEpochEnd, .step = 6, .epoch = 0});
  record.launchers.back().result->epochs = 1;
  record.launchers.back().result->steps = 9;
  EXPECT_EQ(RemedyFor(record, {.ends_at_epoch = 2}, {"ends_at.epoch"}),
            "remove job.max_steps (9)");
  EXPECT_EQ(RemedyFor(record, {.ends_at_epoch = 3}, {"ends_at.epoch"}),
            "remove job.max_steps (9) and set job.epochs (2) to 3");
  EXPECT_EQ(RemedyFor(record, {.ends_at_step = 12}, {"ends_at.step"}),
            "set job.max_steps (9) to 12");
  EXPECT_EQ(RemedyFor(record, {.ends_at_step = 20}, {"ends_at.step"}),
            "set job.epochs (2) to 4 and job.max_steps (9) to 20");
  EXPECT_EQ(RemedyFor(record, {.ends_at_epoch = 1, .ends_at_step = 6},
                      {"ends_at.step"}),
            "set job.max_steps (9) to 6");
  record.incarnations[0].events.pop_back();
  EXPECT_EQ(RemedyFor(record, {.ends_at_step = 20}, {"ends_at.step"}),
            "set job.max_steps (9) to 20, and raise job.epochs (2) if they end "
            "before step 20");
}

TEST(RemediesTest, RunWithoutSteps_HasNoStepsPerEpoch) {
  Record record = CrashedRun();
  record.launchers.back().result->steps = 0;
  EXPECT_EQ(RemedyFor(record, {.ends_at_step = 20}, {"ends_at.step"}),
            "change job.epochs (2)");
}

// The steps of the run's epochs contradict its end.
TEST(RemediesTest, EndBeforeTheStepsOfItsEpochs_HasNoValueToSet) {
  Record record = CrashedRun();
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kEpochEnd, .step = 8, .epoch = 0});
  EXPECT_EQ(RemedyFor(record, {.ends_at_step = 16}, {"ends_at.step"}),
            "change job.epochs (2)");
}

TEST(RemediesTest, RunWithoutDueSaves_IsToSave) {
  Record record = CrashedRun();
  record.setup.save_interval_steps = 0;
  EXPECT_EQ(
      RemedyFor(record, {.recomputed_steps_max = 2}, {"recomputed_steps"}),
      "set checkpoint.every to {steps: 2}");
}

// The run saves steps 4, 8 and 12. It saves step 12 twice: before the
// evaluation, and at the end of training.
TEST(RemediesTest, ExpectedCheckpointsFollowFromTheirRetention) {
  struct RetentionCase {
    int keep;
    std::vector<uint64_t> expected;
    const char* remedy;
  };
  const RetentionCase kCases[] = {
      {2, {8, 12, 12}, "set checkpoint.keep (2) to 3"},
      {2,
       {8, 12},
       "set checkpoint.on_success to leave, so that step 12 is saved only "
       "once"},
      {3,
       {8, 12},
       "set checkpoint.on_success to leave, so that step 12 is saved only "
       "once, and checkpoint.keep (3) to 2"},
      {2, {}, "set checkpoint.on_success to delete"},
      {2,
       {4, 12},
       "change checkpoint.every (4 steps) or job.epochs (2), which set when "
       "saves are due"},
  };
  for (const auto& [keep, expected, remedy] : kCases) {
    Record record = CrashedRun();
    record.setup.keep = keep;
    for (const uint64_t step : {4, 8, 12}) {
      record.incarnations[0].events.push_back(
          {.kind = RecordKind::kSaveAcknowledged, .t_ns = 20, .step = step});
    }
    record.incarnations[0].events.push_back(
        {.kind = RecordKind::kSaveAcknowledged,
         .t_ns = 21,
         .step = 12,
         .epoch = 2,
         .path = "step-000000012-finished-g2"});
    EXPECT_EQ(
        RemedyFor(record, {.checkpoints_left = expected}, {"checkpoints"}),
        remedy);
  }
}

// Three epochs of 6 steps, each saved at its end. After the crash in step 8,
// the job restarts from step 6.
TEST(RemediesTest, EpochsAfterRestart_HaveADirection) {
  struct EpochsCase {
    uint64_t step;  // step of the fault
    std::set<uint64_t> ended_after;
    uint64_t expected;
    const char* remedy;
  };
  const EpochsCase kCases[] = {
      {8,
       {1, 2},
       3,
       "set the step of fault c (8) to 6 or earlier, so that epoch 1 ends "
       "after "
       "the restart"},
      {8,
       {1, 2},
       1,
       "set the step of fault c (8) to a value from 13 to 18, so that it comes "
       "after the end of epoch 2 and the save of step 12"},
      {8, {1, 2}, 5, "set job.epochs (3) to 6"},
      {14,
       {2},
       2,
       "set the step of fault c (14) to 12 or earlier, so that epoch 2 ends "
       "after the restart"},
      {8,
       {1, 2},
       0,
       "move fault c to another epoch, as each epoch that ends after the "
       "restart counts"},
  };
  for (const auto& [step, ended_after, expected, remedy] : kCases) {
    Record record = CrashedRun();
    record.setup.epochs = 3;
    record.faults[0].step = step;
    std::vector<RecordEvent>& first = record.incarnations[0].events;
    IncarnationEvents second = {
        .worker = 1,
        .number = 2,
        .events = {
            {.kind = RecordKind::kInitialized, .t_ns = 15, .generation = 2}}};
    for (const uint64_t epoch : {0, 1, 2}) {
      const bool is_after = ended_after.contains(epoch);
      std::vector<RecordEvent>& events = is_after ? second.events : first;
      for (const RecordKind kind :
           {RecordKind::kEpochEnd, RecordKind::kSaveAcknowledged}) {
        events.push_back({.kind = kind,
                          .t_ns = is_after ? 20 : 10,
                          .generation = is_after ? 2u : 1u,
                          .step = 6 * (epoch + 1),
                          .epoch = epoch});
      }
    }
    first.insert(
        first.begin(),
        {.kind = RecordKind::kInitialized, .t_ns = 2, .generation = 1});
    record.incarnations.push_back(second);
    EXPECT_EQ(RemedyFor(record, {.epochs_after_restart_exactly = expected},
                        {"epochs_after_restart"}),
              remedy)
        << step << " " << expected;
  }
}

// Saves of steps 4, 8 and 12 are due in 14 steps, and the end is saved, too.
TEST(RemediesTest, NumberOfSaves_FollowsFromItsSchedule) {
  struct SavesCase {
    bool has_final;
    uint64_t expected;
    const char* remedy;
  };
  const SavesCase kCases[] = {
      {true, 3,
       "set checkpoint.on_success to leave, so that step 14 is not saved"},
      {true, 8, "set checkpoint.every (4 steps) to {steps: 2}"},
      {false, 4,
       "set checkpoint.on_success to keep, so that the end of training is "
       "saved, too"},
      {false, 2, "set checkpoint.every (4 steps) to {steps: 7}"},
      // No interval gives that number of saves.
      {false, 9,
       "change checkpoint.every (4 steps) or job.epochs (2), which set when "
       "saves are due"},
  };
  for (const auto& [has_final, expected, remedy] : kCases) {
    Record record = CrashedRun();
    record.launchers[0].result->steps = 14;
    std::vector<RecordEvent>& events = record.incarnations[0].events;
    events.insert(
        events.begin(),
        {.kind = RecordKind::kInitialized, .t_ns = 2, .generation = 1});
    for (const uint64_t step : {4, 8, 12}) {
      events.push_back({.kind = RecordKind::kSaveAcknowledged,
                        .t_ns = 10,
                        .generation = 1,
                        .step = step});
    }
    if (has_final) {
      events.push_back({.kind = RecordKind::kSaveAcknowledged,
                        .t_ns = 10,
                        .generation = 1,
                        .step = 14,
                        .path = "step-000000014-finished-g1"});
    }
    EXPECT_EQ(RemedyFor(record, {.saves_exactly = expected}, {"saves"}),
              remedy);
  }
}

TEST(RemediesTest, CourseOfTheLossHasADirection) {
  struct CourseCase {
    float first;
    float last;
    const char* remedy;
  };
  const CourseCase kCases[] = {
      {2.0f, 2.002f,
       "raise job.optimizer.lr, as the loss changes by only 0.1% from the end "
       "of epoch 1 to that of epoch 3"},
      {2.0f, 3.0f,
       "lower job.optimizer.lr, as the loss rises from the end of epoch 1 to "
       "that of epoch 3"},
      {2.0f, std::numeric_limits<float>::quiet_NaN(),
       "lower job.optimizer.lr, as the loss is not finite at the end of epoch "
       "3"},
      {2.0f, 1.0f,
       "train longer (job.epochs is 2) or change job.optimizer.lr, as training "
       "without faults gives the same values"},
  };
  for (const auto& [first, last, remedy] : kCases) {
    Record record = CrashedRun();
    record.incarnations[0].events.push_back(
        {.kind = RecordKind::kEpochEnd,
         .epoch = 0,
         .loss_bits = std::bit_cast<uint32_t>(first)});
    record.incarnations[0].events.push_back(
        {.kind = RecordKind::kEpochEnd,
         .epoch = 2,
         .loss_bits = std::bit_cast<uint32_t>(last)});
    EXPECT_EQ(RemedyFor(record, {}, {"loss"}), remedy);
  }
}

// With these losses, the number of correct samples is noise.
TEST(RemediesTest, AccuracyFollowsALossThatHardlyChangesOrIsNotFinite) {
  struct LossCase {
    float last;
    const char* remedy;
  };
  const LossCase kCases[] = {
      {2.002f,
       "raise job.optimizer.lr, as the loss changes by only 0.1% from the end "
       "of epoch 1 to that of epoch 3"},
      {std::numeric_limits<float>::quiet_NaN(),
       "lower job.optimizer.lr, as the loss is not finite at the end of epoch "
       "3"},
  };
  for (const auto& [last, remedy] : kCases) {
    Record record = CrashedRun();
    std::vector<RecordEvent>& events = record.incarnations[0].events;
    events.push_back({.kind = RecordKind::kEpochEnd,
                      .epoch = 0,
                      .count = 41,
                      .loss_bits = std::bit_cast<uint32_t>(2.0f)});
    events.push_back({.kind = RecordKind::kEpochEnd,
                      .epoch = 2,
                      .count = 36,
                      .loss_bits = std::bit_cast<uint32_t>(last)});
    EXPECT_EQ(RemedyFor(record, {}, {"loss", "accuracy"}), remedy);
  }
}

TEST(RemediesTest, LossThatIsNotFiniteOnlyHasToStopTheRun) {
  Record record = CrashedRun();
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kEpochEnd,
       .loss_bits =
           std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN())});
  EXPECT_EQ(RemedyFor(record, {.outcome = Outcome::kStopsOnNan}, {"outcome"}),
            "set job.stop_on_nan to true");
}

TEST(RemediesTest, RunWithoutARestart_RefusesNothing) {
  Record record = CrashedRun();
  record.expect.outcome = Outcome::kRefuses;
  const Verdict verdict = {
      .broken_expectations = {{"expectation", "outcome", "m"}}};
  EXPECT_EQ(RemedyForUnmet(Outline(record), verdict),
            "add a fault that ends a worker (do: crash), as a run that is not "
            "restarted loads no checkpoint, and faults that damage every "
            "checkpoint before it");
}

TEST(RemediesTest, SingleEpochHasNoneToCompareWith) {
  Record record = CrashedRun();
  record.launchers.back().result->epochs = 1;
  record.launchers.back().result->steps = 9;
  EXPECT_EQ(RemedyFor(record, {}, {"loss"}),
            "raise job.max_steps (9), so that two epochs end, as loss and "
            "accuracy compare the first epoch with the last");
  record.setup.epochs = 1;
  EXPECT_EQ(RemedyFor(record, {}, {"accuracy"}),
            "set job.epochs (1) to 2 or more, as loss and accuracy compare the "
            "first epoch with the last");
}

// The loss rises, too, but `accuracy` is about the correct samples.
TEST(RemediesTest, AccuracyIsAboutTheCorrectSamples) {
  struct AccuracyCase {
    int64_t last;
    const char* remedy;
  };
  const AccuracyCase kCases[] = {
      {20,
       "lower job.optimizer.lr, as fewer samples are correct at the end of "
       "epoch 3 (20) than at that of epoch 1 (30)"},
      {30,
       "train longer (job.epochs is 2) or raise job.optimizer.lr, as 30 "
       "samples are correct at the end of epoch 1 and at that of epoch 3"},
  };
  for (const auto& [last, remedy] : kCases) {
    Record record = CrashedRun();
    std::vector<RecordEvent>& events = record.incarnations[0].events;
    events.push_back({.kind = RecordKind::kEpochEnd,
                      .epoch = 0,
                      .count = 30,
                      .loss_bits = std::bit_cast<uint32_t>(2.0f)});
    events.push_back({.kind = RecordKind::kEpochEnd,
                      .epoch = 2,
                      .count = last,
                      .loss_bits = std::bit_cast<uint32_t>(3.0f)});
    EXPECT_EQ(RemedyFor(record, {}, {"accuracy"}), remedy);
  }
}

// The save of step 4 was still being written when training was at step 6.
TEST(RemediesTest, FaultInAnAsynchronousSave_CountsFromTheStepOfThatSave) {
  Record record = CrashedRun();
  record.setup.async_saves = true;
  record.faults = {{.id = "c", .kind = "crash", .save = 1, .in_save = true}};
  record.incarnations[0].events = {
      {.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 4},
      {.kind = RecordKind::kFaultFired,
       .t_ns = 11,
       .step = 6,
       .path = "ckpt.shard.write",
       .detail = "c"},
      {.kind = RecordKind::kInitialized, .t_ns = 15, .generation = 1},
      {.kind = RecordKind::kResumed, .t_ns = 16, .generation = 2}};
  EXPECT_EQ(RemedyFor(record, {.resumed_from_step = 8}, {"resumed_from"}),
            "set the save of fault c (1) to 3, so that the save of step 8 "
            "comes before it");
}

// The workers could not load the checkpoint of step 4, although its save was
// acknowledged, so they started again from step 0.
TEST(RemediesTest, FaultAfterAnAcknowledgement_MovesToTheExpectedSave) {
  struct OrderCase {
    int64_t acknowledged_ns;
    const char* remedy;
  };
  const OrderCase kCases[] = {
      {10,
       "set the save of fault c (1) to 2, so that the save of step 8 comes "
       "before it"},
      {12,
       "set the save of fault c (1) to 3, so that the save of step 8 comes "
       "before it"},
  };
  for (const auto& [acknowledged_ns, remedy] : kCases) {
    Record record = CrashedRun();
    record.faults = {{.id = "c", .kind = "crash", .save = 1, .in_save = true}};
    record.incarnations[0].events = {
        {.kind = RecordKind::kFaultFired,
         .t_ns = 11,
         .step = 4,
         .path = "ckpt.end",
         .detail = "c"},
        {.kind = RecordKind::kInitialized, .t_ns = 15, .generation = 1},
        {.kind = RecordKind::kInitialized, .t_ns = 16, .generation = 2}};
    record.incarnations.push_back(
        {.worker = 0,
         .number = 1,
         .events = {{.kind = RecordKind::kSaveBegin, .t_ns = 9, .step = 4},
                    {.kind = RecordKind::kSaveAcknowledged,
                     .t_ns = acknowledged_ns,
                     .step = 4}}});
    EXPECT_EQ(RemedyFor(record, {.resumed_from_step = 8}, {"resumed_from"}),
              remedy);
  }
}

// No save is due after that of step 8.
TEST(RemediesTest, LastAsynchronousSaveIsToBeSynchronous) {
  Record record = CrashedRun();
  record.setup.async_saves = true;
  record.golden.entries = {{.kind = RecordKind::kStep, .step = 11}};
  record.faults = {{.id = "c", .kind = "crash", .step = 9}};
  record.incarnations[0].events = {
      {.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 8},
      {.kind = RecordKind::kFaultFired, .t_ns = 11, .detail = "c"},
      {.kind = RecordKind::kInitialized, .t_ns = 15, .generation = 1},
      {.kind = RecordKind::kResumed, .t_ns = 16, .generation = 2}};
  EXPECT_EQ(RemedyFor(record, {.resumed_from_step = 8}, {"resumed_from"}),
            "set checkpoint.mode (async) to sync, so that the save of step 8 "
            "is complete before fault c fires");
}

// The next save waits for a delay that ends, so the delay may stay.
TEST(RemediesTest, FaultAfterAnAsynchronousSave_MovesToTheBeginOfTheNext) {
  Record record = CrashedRun();
  record.setup.async_saves = true;
  record.faults = {
      {.id = "c", .kind = "crash", .worker = "1", .step = 9},
      {.id = "s", .kind = "slow", .in_save = true, .latency_ns = 100}};
  record.incarnations[0].events = {
      {.kind = RecordKind::kSaveBegin, .t_ns = 10, .step = 4},
      {.kind = RecordKind::kStep, .t_ns = 12, .step = 5},
      {.kind = RecordKind::kStep, .t_ns = 13, .step = 6},
      {.kind = RecordKind::kSaveAcknowledged, .t_ns = 40, .step = 4},
      {.kind = RecordKind::kSaveBegin, .t_ns = 41, .step = 8},
      {.kind = RecordKind::kFaultFired, .t_ns = 42, .step = 8, .detail = "s"},
      {.kind = RecordKind::kFaultFired, .t_ns = 43, .step = 9, .detail = "c"},
      {.kind = RecordKind::kInitialized, .t_ns = 55, .generation = 1},
      {.kind = RecordKind::kResumed, .t_ns = 56, .generation = 2, .step = 4}};
  std::vector<RecordEvent>& events = record.launchers.back().events;
  for (size_t i = 1; i < events.size(); ++i) {
    events[i].t_ns = 43 + static_cast<int64_t>(i);
  }
  EXPECT_EQ(
      RemedyFor(record, {.resumed_from_step = 8}, {"resumed_from"}),
      "set `at` of fault c to {worker: 1, save: 3, point: ckpt.begin}, so "
      "that the save of step 8 comes before it, as each save waits for "
      "the one before");
}

// Another fault delayed the save before the crash.
TEST(RemediesTest, FaultInADelayedSaveIsMovedToo) {
  Record record = CrashedRun();
  record.setup.async_saves = true;
  record.faults = {
      {.id = "c", .kind = "crash", .save = 1, .in_save = true},
      {.id = "s", .kind = "slow", .in_save = true, .latency_ns = 1}};
  record.incarnations[0].events = {
      {.kind = RecordKind::kSaveBegin, .t_ns = 9, .step = 4},
      {.kind = RecordKind::kFaultFired,
       .t_ns = 10,
       .step = 4,
       .path = "ckpt.shard.write",
       .detail = "s"},
      {.kind = RecordKind::kFaultFired,
       .t_ns = 11,
       .step = 6,
       .path = "ckpt.shard.write",
       .detail = "c"},
      {.kind = RecordKind::kInitialized, .t_ns = 15, .generation = 1},
      {.kind = RecordKind::kResumed, .t_ns = 16, .generation = 2}};
  EXPECT_EQ(RemedyFor(record, {.resumed_from_step = 4}, {"resumed_from"}),
            "remove fault s, which delayed the save of step 4, and set the "
            "save of fault c (1) to 2, so that the save of step 4 comes before "
            "it");
}

TEST(RemediesTest, RefusalOfAnotherJobIsNotAboutTheDirectory) {
  Record record = CrashedRun();
  record.launchers.back().result.reset();
  record.launchers.back().exit_code = static_cast<int>(WorkerExit::kOtherJob);
  EXPECT_EQ(RemedyFor(record, {}, {"outcome"}),
            "remove the changed settings from launches, as all launches of a "
            "scenario use one checkpoint directory");
}

TEST(RemediesTest, StopInLaunches_IsRemovedFromAJobThatIsToComplete) {
  Record record = CrashedRun();
  record.faults.clear();
  record.incarnations.clear();
  record.setup.launches = {{.stop_at_step = 4}};
  record.launchers = {{.result = FinalResult{.status = "stopped"}},
                      {.result = FinalResult{.status = "done"}}};
  record.expect = {};
  const Verdict verdict = {
      .broken_expectations = {{"expectation", "outcome", "m"}},
      .facts = {.restarts = 1, .requeues = 1}};
  EXPECT_EQ(RemedyForUnmet(Outline(record), verdict),
            "remove stop_at_step from launches, as a job that stops before its "
            "end is started again");
}

// If the policy permits no restart, the record has a restart budget of 0,
// whatever the scenario sets.
TEST(RemediesTest, PolicyIsChanged_IfItPermitsNoRestart) {
  Record record = CrashedRun();
  record.setup.never_restarts = true;
  record.setup.max_restarts = 0;
  record.expect = {.restarts_exactly = 2};
  const Verdict verdict = {
      .broken_expectations = {{"expectation", "restarts", "m"}},
      .facts = {.restarts = 0}};
  EXPECT_EQ(
      RemedyForUnmet(Outline(record), verdict),
      "add a fault that ends a worker (do: crash) in each of incarnations "
      "2 and 3, and set cluster.restart.policy to whole-job and "
      "cluster.restart.max to 2; and set outcome: recovers, as only a run "
      "without restarts completes");
}

// preemption.requeue is at most 1000.
TEST(RemediesTest, RequeueIsNotRaised_AboveItsLargestValue) {
  for (const size_t starts : {1000, 1001}) {
    Record record;
    record.expect = {.outcome = Outcome::kRecovers};
    const LauncherRun stopped = {.exit_code = 143,
                                 .result = FinalResult{.status = "stopped"}};
    record.launchers.assign(starts, stopped);
    EXPECT_EQ(RequeueRemedy(Outline(record), {}),
              starts == 1000
                  ? "raise preemption.requeue (999) to 1000, so that "
                    "the job starts again after its stop"
                  : "");
  }
}

// Without the fault, the job would not restart even once.
TEST(RemediesTest, FaultOfAllRestarts_IsLimitedForAnExactNumber) {
  Record record = CrashedRun();
  record.faults[0].always = true;
  record.faults[0].summary = "crash worker 1 at step.begin, incarnation any";
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kFaultFired, .t_ns = 16, .detail = "c"});
  std::vector<RecordEvent>& events = record.launchers[0].events;
  const RecordEvent end = events.back();
  events.back() = {.kind = RecordKind::kExited,
                   .t_ns = 17,
                   .count = 70,
                   .about = 1,
                   .incarnation = 1,
                   .reason = RecordReason::kExited};
  events.push_back({.kind = RecordKind::kAttemptEnds,
                    .t_ns = 18,
                    .reason = RecordReason::kWorkerLeft});
  events.push_back({.kind = RecordKind::kRestarting, .t_ns = 19});
  events.push_back(end);
  record.expect.restarts_exactly = 1;
  Verdict verdict = {.broken_expectations = {{"expectation", "restarts", "m"}},
                     .facts = {.restarts = 2}};
  EXPECT_EQ(RemedyForUnmet(Outline(record), verdict),
            "set the repeat of fault c to once");
  record.faults[0].always = false;
  EXPECT_EQ(RemedyForUnmet(Outline(record), verdict),
            "set the incarnation of fault c to 1");
  record.expect = {.restarts_max = 1};
  EXPECT_EQ(RemedyForUnmet(Outline(record), verdict),
            "remove fault c, which ended attempt 2");
}

TEST(RemediesTest, InterruptionsBeyondThePermittedOnesHaveTheirFaults) {
  const Record record = CrashedRun();
  EXPECT_EQ(FewerInterruptions(Outline(record), 0),
            "remove fault c, which ended attempt 1");
  EXPECT_EQ(FewerInterruptions(Outline(record), 1), "");
}

}  // namespace
}  // namespace gauntlet
