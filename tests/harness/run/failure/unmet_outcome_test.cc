// Causes of an outcome that a scenario does not expect.
#include "harness/run/failure/unmet_outcome.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "harness/run/failure/failure_summary.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"

namespace gauntlet {
namespace {

class UnmetOutcomeTest : public testing::Test {
 protected:
  // Returns the result of the case that `rest` completes. It saves every 4
  // steps and has 12.
  CaseResult Run(const std::string& rest) { return Run(SmallCase(rest)); }
  CaseResult Run(const Case& one) {
    return RunCase(one, {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

// The end of a scenario, and the expected cause of its failure.
struct OutcomeCase {
  const char* scenario;
  const char* cause;
};

TEST_F(UnmetOutcomeTest, CauseIsTheFaultAndWhatItDid) {
  const OutcomeCase kCases[] = {
      {"faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash, with: {repeat: always}}]\n"
       "expect: {outcome: recovers}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempts 1, 2, 3, "
       "4; the launcher gave up: restarts used up (cluster.restart.max is 3)"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: hang}]\n"
       "expect: {outcome: completes}\n",
       "fault c (hang worker 1 at step.begin, step 6) ended attempt 1: worker "
       "0 lost rank 1 (deadline)"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: completes}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempt 1: worker "
       "1 exited with code 70"},
      // The first launch ends as planned.
      {"launches: [{stop_at_step: 4}, {}]\n"
       "faults: [{id: c, at: {worker: 1, step: 6, incarnation: any}, do: "
       "crash}]\n"
       "expect: {outcome: completes}\n",
       "fault c (crash worker 1 at step.begin, step 6) ended attempt 1: worker "
       "1 exited with code 70"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: slow, with: {latency: "
       "100ms}}]\n"
       "expect: {outcome: recovers}\n",
       "no process ended before training was complete, so nothing had to be "
       "restarted"},
      {"faults: [{id: c, at: {worker: 1, step: 3}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 4}}\n",
       "no save had begun when worker 1 exited with code 70, so the run "
       "started from scratch again"},
      {"faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
       "expect: {outcome: recovers, resumed_from: {step: 8}}\n",
       "no save of step 8 had begun when worker 1 exited with code 70"},
  };
  for (const auto& [scenario, cause] : kCases) {
    const CaseResult result = Run(scenario);
    EXPECT_EQ(result.verdict.kind, VerdictKind::kFail) << scenario;
    EXPECT_EQ(result.cause, cause) << scenario;
  }
}

TEST_F(UnmetOutcomeTest, LauncherThatNeverRestarts_GivesUpWithoutAViolation) {
  Case one = SmallCase(
      "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
      "expect: {outcome: recovers}\n");
  one.cluster.policy = RestartPolicy::kNone;
  const CaseResult result = Run(one);
  EXPECT_EQ(result.verdict.reason, "outcome");
  EXPECT_EQ(result.cause,
            "fault c (crash worker 1 at step.begin, step 6) ended attempt 1; "
            "the launcher gave up: cluster.restart permits no restart");
}

TEST_F(UnmetOutcomeTest, ViolatedInvariantLeavesTheOutcomeUnexplained) {
  const CaseResult result =
      Run("planted_bugs: lose-rng-key\n"
          "faults: [{id: c, at: {worker: 1, step: 6}, do: crash}]\n"
          "expect: {outcome: completes}\n");
  ASSERT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_FALSE(result.verdict.broken_expectations.empty());
  EXPECT_EQ(result.cause, "");
}

}  // namespace
}  // namespace gauntlet
