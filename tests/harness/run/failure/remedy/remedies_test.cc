// Changes of a scenario after which its run meets the expectations.
#include "harness/run/failure/remedy/remedies.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/worker_exit_code.h"

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
       .result = FinalResult{.status = "done"},
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
      {{.outcome = Outcome::kStopsCleanly},
       {"outcome"},
       "add a preemption notice (do: preempt) before the last step"},
      {{.outcome = Outcome::kRefuses},
       {"outcome"},
       "let faults damage every checkpoint before the restart "
       "(checkpoint.keep is 2), as the run resumes from any intact one"},
      {{.restarts_exactly = 2},
       {"restarts"},
       "add a fault that ends a worker (do: crash) in incarnation 2"},
      {{.resumed_from_step = 8},
       {"resumed_from"},
       "set the step of fault c (6) to 9 or later, so that the save of step 8 "
       "comes before it"},
      {{.resumed_from_step = 0},
       {"resumed_from"},
       "set the step of fault c (6) to 4 or earlier, so that it comes before "
       "the save of step 4"},
      {{.resumed_from_step = 6},
       {"resumed_from"},
       "change checkpoint.every so that step 6 is saved (a save is due after "
       "each 4 steps)"},
      {{.recomputed_steps_max = 1},
       {"recomputed_steps"},
       "lower checkpoint.every (4 steps), or move fault c to at most 1 step "
       "after a save"},
      {{.failed_saves_exactly = 1},
       {"failed_saves"},
       "let a fault fail one more save (do: errno at ckpt.shard.open)"},
      {{.ends_at_epoch = 3}, {"ends_at.epoch"}, "change job.epochs (2)"},
      {{.checkpoints_left = std::vector<uint64_t>{4, 8, 12}},
       {"checkpoints"},
       "set checkpoint.keep (2) to 3"},
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

TEST(RemediesTest, RefusalOfAnotherJobIsNotAboutTheDirectory) {
  Record record = CrashedRun();
  record.launchers.back().result.reset();
  record.launchers.back().exit_code = static_cast<int>(WorkerExit::kOtherJob);
  EXPECT_EQ(RemedyFor(record, {}, {"outcome"}),
            "remove the changed settings from launches, as all launches of a "
            "scenario use one checkpoint directory");
}

TEST(RemediesTest, InterruptionsBeyondThePermittedOnesHaveTheirFaults) {
  const Record record = CrashedRun();
  EXPECT_EQ(FewerInterruptions(Outline(record), 0),
            "remove fault c, which ended attempt 1");
  EXPECT_EQ(FewerInterruptions(Outline(record), 1), "");
}

}  // namespace
}  // namespace gauntlet
