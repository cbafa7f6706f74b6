// A job that receives notice after notice, at random places and in every way:
// no step is recomputed, and the bits are those of an undisturbed run.
#include <algorithm>
#include <array>
#include <tuple>

#include <gtest/gtest.h>

#include "chaos/sim/scheduler/random_stream.h"
#include "harness/oracle/judge.h"
#include "harness/run/case_runner.h"
#include "harness/run/executor/run_log.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/reference.h"
#include "harness/scenario/run_setup.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kTimes = 20;

// Points that every incarnation of a worker passes within an epoch and a half.
constexpr std::array kPlaces = {
    Point::kRendezvous,     Point::kStepBegin,    Point::kDataNext,
    Point::kAllReduceBegin, Point::kAllReduceEnd, Point::kStepEnd,
    Point::kEvalBegin,      Point::kEpochEnd,     Point::kSaveBegin,
    Point::kShardWrite,     Point::kShardDone,    Point::kSaveEnd};

Case PreemptedAtRandom(uint64_t seed, SaveMode mode) {
  Case one =
      SmallCase("expect: {outcome: recovers, recomputed_steps: {max: 0}}\n");
  one.seed = seed;
  one.train.horizon.epochs = 40;
  one.train.checkpoint.mode = mode;
  one.train.preemption.poll_every = std::chrono::milliseconds(1);
  RandomStream stream(seed, "places");
  for (int incarnation = 1; incarnation <= kTimes; ++incarnation) {
    one.plan.faults.push_back(
        {.id = fmt::format("notice-{}", incarnation),
         .site = {.worker = static_cast<int>(stream.Below(2)),
                  .incarnation = incarnation,
                  .point = kPlaces[stream.Below(kPlaces.size())]},
         .kind = FaultKind::kPreempt,
         .with = {.grace = std::chrono::seconds(60),
                  .notice = static_cast<NoticeBy>(stream.Below(3))}});
  }
  return one;
}

using SeedAndMode = std::tuple<uint64_t, SaveMode>;
class PreemptedOftenTest : public testing::TestWithParam<SeedAndMode> {};

TEST_P(PreemptedOftenTest, TwentyNoticesInARowCostNotASingleStep) {
  const auto [seed, mode] = GetParam();
  const Case one = PreemptedAtRandom(seed, mode);
  References references("", "test");
  RunPlan plan = PlanOf(one);
  plan.max_requeues = kTimes + 1;
  Record record = RecordHead(one);
  record.world = "sim";
  record.golden = *references.GoldenFor(plan).value();
  FiberPool pool;
  AdoptLog(
      RunSimulated(pool, plan, *references.DataOf(plan.train.job.data).value()),
      record);
  const Verdict verdict = Judge(record);
  EXPECT_EQ(verdict.kind, VerdictKind::kPass) << verdict.reason;
  ASSERT_EQ(record.launchers.size(), size_t{kTimes} + 1);
  EXPECT_EQ(record.launchers.back().result->digest, record.golden.final_digest);
  EXPECT_EQ(verdict.facts.max_recomputed_steps, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, PreemptedOftenTest,
    testing::Combine(testing::Range(uint64_t{1}, uint64_t{9}),
                     testing::Values(SaveMode::kSync, SaveMode::kAsync,
                                     SaveMode::kZeroCopy)));

}  // namespace
}  // namespace gauntlet
