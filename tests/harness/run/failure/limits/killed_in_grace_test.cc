// Workers that were killed at the end of a grace period.
#include "harness/run/failure/limits/killed_in_grace.h"

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
                 "2.0 s and was killed in step 10; it did not save in the "
                 "remaining 5.0 s, as a worker continues training "
                 "while preemption.grace (30s) leaves enough time for a step "
                 "and a save; a step "
                 "took up to "));
  EXPECT_EQ(result.summary.next,
            "lower preemption.grace (30s) to the grace of fault p (7s)");
  EXPECT_EQ(Run("7s", "7s").verdict.kind, VerdictKind::kPass);
}

TEST_F(KilledInGraceTest, TimeTooShortForTwoSteps_IsToBeRaised) {
  const CaseResult result = Run("30s", "1s");
  EXPECT_THAT(result.cause, HasSubstr("worker 1 was killed in step 7 before it "
                                      "had read the notice, which it does "
                                      "between steps"));
  EXPECT_EQ(
      result.summary.next,
      "raise the grace of fault p (1s) to 5s, the time of two steps and "
      "a save, rounded up, and lower preemption.grace (30s) to the same time");
  EXPECT_EQ(Run("5s", "5s").verdict.kind, VerdictKind::kPass);
}

// Returns a record of a notice at 1 s, which grants 10 s. Worker 1 reads it
// `read_after_ns` later (0: never), and is killed in step 13.
Record KilledRecord(bool polled, int64_t read_after_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  Record record;
  record.setup.poll_every_ns = 7 * kSecond;
  record.faults = {{.id = "p",
                    .kind = "preempt",
                    .polled = polled,
                    .grace_ns = 10 * kSecond}};
  std::vector<RecordEvent> events = {
      {.kind = RecordKind::kStep, .t_ns = 1, .step = 12},
      {.kind = RecordKind::kFaultFired, .t_ns = kSecond, .detail = "p"}};
  if (read_after_ns > 0) {
    events.push_back(
        {.kind = RecordKind::kNotice, .t_ns = kSecond + read_after_ns});
  }
  record.incarnations = {{.worker = 1, .number = 1, .events = events}};
  record.launchers = {{.events = {{.kind = RecordKind::kExited,
                                   .t_ns = 11 * kSecond,
                                   .count = 137,
                                   .about = 1,
                                   .incarnation = 1,
                                   .reason = RecordReason::kSignal}}}};
  return record;
}

TEST(KilledWorkerTest, TextSaysWhyItHadNotSaved) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct NoticeCase {
    bool polled;
    int64_t read_after_ns;
    int64_t told_ns;
    const char* text;  // after "worker 1 "
    const char* remedy;
  };
  const NoticeCase kCases[] = {
      {false, 2 * kSecond, 0,
       "read the notice after 2.0 s and was killed in step 13; it did not save "
       "in the remaining 8.0 s, as workers stop and save between steps, and "
       "agree on the stop in one more",
       "raise the grace of fault p (10s)"},
      {true, 2 * kSecond, 10 * kSecond,
       "read the notice after 2.0 s (it polls every preemption.poll_every "
       "(7s)) and was killed in step 13; it did not save in the remaining 8.0 "
       "s, as a worker continues training while preemption.grace (10s) leaves "
       "enough time for a step and a save",
       "raise the grace of fault p (10s)"},
      {true, 6 * kSecond, 0,
       "read the notice after 6.0 s (it polls every preemption.poll_every "
       "(7s)) and was killed in step 13; it did not save in the remaining 4.0 "
       "s, as workers stop and save between steps, and agree on the stop in "
       "one more",
       "lower preemption.poll_every (7s) to 1s, a tenth of the grace of fault "
       "p (10s)"},
      {true, 0, 0,
       "was killed in step 13 before it had read the notice, which it does "
       "every preemption.poll_every (7s)",
       "lower preemption.poll_every (7s) to 1s, a tenth of the grace of fault "
       "p (10s)"},
  };
  for (const auto& [polled, read_after_ns, told_ns, text, remedy] : kCases) {
    Record record = KilledRecord(polled, read_after_ns);
    record.setup.notice_grace_ns = told_ns;
    const Outline outline(record);
    const std::optional<KilledInGrace> killed = FindKilledInGrace(outline);
    ASSERT_TRUE(killed.has_value()) << text;
    EXPECT_EQ(KilledInGraceText(outline, *killed),
              std::string("fault p grants worker 1 10s from the notice to the "
                          "kill; worker 1 ") +
                  text);
    EXPECT_EQ(KilledInGraceRemedy(record.setup, *killed), remedy);
  }
}

TEST(KilledWorkerTest, StepsOfAnExecutionAreInTheAdvice) {
  constexpr int64_t kSecond = 1'000'000'000;
  Record record = KilledRecord(false, 2 * kSecond);
  record.setup.steps_per_execution = 4;
  record.incarnations[0].events.push_back(
      {.kind = RecordKind::kStep, .t_ns = 2 * kSecond, .step = 13});
  const Outline outline(record);
  const std::optional<KilledInGrace> killed = FindKilledInGrace(outline);
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(KilledInGraceRemedy(record.setup, *killed),
            "raise the grace of fault p (10s) to 16s, the time of two "
            "executions of 4 steps and a save, rounded up");
}

}  // namespace
}  // namespace gauntlet
