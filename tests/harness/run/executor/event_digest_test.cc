// Checked-in digests of whole runs. They cover every decision of the scheduler,
// every effect on disk and network, and every event. They are equal in every
// build and on every machine. A change of the protocol, of the store's bytes or
// of the simulation changes them.
#include <gtest/gtest.h>

#include "harness/run/case_runner.h"
#include "harness/run/executor/sim_run.h"
#include "tests/harness/run/small_cases.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

struct GoldenRun {
  const char* name;
  const char* faults;
  uint64_t event_digest;
};

constexpr GoldenRun kGoldenRuns[] = {
    {"undisturbed", "[]", 0x82c9ed01272ad5ca},
    {"crash", "[{at: {worker: 1, step: 6, point: step.begin}, do: crash}]",
     0x827967960cf9c5da},
    {"hang", "[{at: {worker: 1, step: 6, point: step.begin}, do: hang}]",
     0xda9a9d534fa90265},
    {"preempt",
     "[{at: {worker: 0, point: eval.begin}, do: preempt, "
     "with: {grace: 10s}}]",
     0x3dcf33e0dd4df02d},
    {"power_loss",
     "[{at: {worker: 0, point: ckpt.rename, occurrence: 2}, do: power_loss}]",
     0x4b2c11e24fa44ebf},
    {"partition",
     "[{at: {worker: 1, step: 3, point: comm.send}, do: partition, "
     "with: {duration: 20s}}]",
     0x3c7ff4d6be4a881a},
};

class EventDigestTest : public testing::TestWithParam<GoldenRun> {};

TEST_P(EventDigestTest, IsTheRecordedOne) {
  const Case one = SmallCase(fmt::format(
      "faults: {}\nexpect: {{outcome: recovers}}\n", GetParam().faults));
  References references("", "test");
  const RunPlan plan = PlanOf(one);
  FiberPool pool;
  const RunLog log =
      RunSimulated(pool, plan, *references.DataOf(plan.train.job.data).value());
  EXPECT_EQ(log.event_digest, GetParam().event_digest)
      << fmt::format("{}: 0x{:016x}", GetParam().name, log.event_digest);
}

INSTANTIATE_TEST_SUITE_P(Runs, EventDigestTest, testing::ValuesIn(kGoldenRuns),
                         [](const auto& run) {
                           return std::string(run.param.name);
                         });

}  // namespace
}  // namespace gauntlet
