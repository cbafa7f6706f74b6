// Workers that were killed at the end of a grace period.
#include "harness/run/failure/history/killed_in_grace.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "tests/engine/real/scratch_directory.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class KilledInGraceTest : public testing::Test {
 protected:
  // Returns the result of a case whose steps take 2 s, with a notice in step 7.
  // `told`: preemption.grace, `granted`: the grace of the fault.
  CaseResult Run(const std::string& told, const std::string& granted) {
    std::string text = SmallScenario(fmt::format(
        "seed: 7\npreemption: {{grace: {}}}\nfaults: [{{id: p, at: {{worker: "
        "1, "
        "step: 7}}, do: preempt, with: {{grace: {}}}}}]\nexpect: {{outcome: "
        "recovers, recomputed_steps: {{max: 0}}}}\n",
        told, granted));
    const std::string workers = "{workers: 2";
    text.replace(text.find(workers), workers.size(),
                 workers + ", step_time: 2s");
    const LoadedFile loaded = LoadScenarios(text, "c.yaml");
    CHECK(loaded.errors.empty(), RenderErrors(loaded, "c.yaml", text));
    return RunCase(loaded.cases.at(0), {.directory = scratch_.path()},
                   {.world = WorldKind::kSimulated}, references_)
        .result;
  }

  ScratchDirectory scratch_;
  References references_{"", "test"};
};

TEST_F(KilledInGraceTest, TrainerToldALongerGrace_AdvisesAShorterOne) {
  const CaseResult result = Run("30s", "7s");
  EXPECT_EQ(result.verdict.kind, VerdictKind::kFail);
  EXPECT_THAT(
      result.cause,
      StartsWith("fault p grants worker 1 7s from the notice to the "
                 "kill, but the trainer was told 30s "
                 "(preemption.grace); worker 1 read the notice after "
                 "2.0 s and was killed in step 10; a step took up to "));
  EXPECT_EQ(result.summary.next,
            "lower preemption.grace (30s) to the grace of fault p (7s)");
  EXPECT_EQ(Run("7s", "7s").verdict.kind, VerdictKind::kPass);
}

TEST_F(KilledInGraceTest, TimeTooShortForTwoSteps_IsToBeRaised) {
  const CaseResult result = Run("30s", "1s");
  EXPECT_THAT(result.cause, HasSubstr("worker 1 was killed in step 7 before it "
                                      "had read the notice, which it does "
                                      "between steps"));
  EXPECT_EQ(result.summary.next,
            "raise the grace of fault p (1s) to 5s, the time of two steps and "
            "a save, and lower preemption.grace (30s) to the same time");
  EXPECT_EQ(Run("5s", "5s").verdict.kind, VerdictKind::kPass);
}

}  // namespace
}  // namespace gauntlet
