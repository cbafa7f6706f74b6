// Steps of whole workers whose exchange begins during the last backward pass:
// results, and faults in the exchange.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/job/layers.h"
#include "engine/train/loop/train_memo.h"
#include "tests/engine/train/launched_run.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

// The gradients have two whole chunks; those of all layers but the first are
// final before the pass ends.
TrainOptions WideRun() {
  TrainOptions options = SmallRun();
  options.job.model.layers = {
      layers::Flatten(), layers::Dense(32), layers::Relu(), layers::Dense(2048),
      layers::Relu(),    layers::Dense(32), layers::Relu(), layers::Dense(10)};
  options.horizon.epochs = 1;
  options.kernels = {.isa = Isa::kAuto};
  options.checkpoint.trigger.every = 2;
  return options;
}

const std::string& UndisturbedWideDigest() {
  static const std::string digest = UndisturbedDigest(WideRun());
  return digest;
}

// Makes each layer of a backward pass take time, which differs between
// replicas. Remembers the last gradient that each process computed.
class SlowPasses final : public StepProbe {
 public:
  explicit SlowPasses(Simulation& simulation) : simulation_(simulation) {}
  bool Begin(uint64_t, Phase phase, const std::vector<TensorView>&) override {
    return phase == Phase::kInEpoch;
  }
  void Saw(const OperationOutput& output, std::span<float>) override {
    if (!output.name.starts_with("gradient of ")) return;
    const ProcessId self = simulation_.self();
    last_[self] = output.name;
    const auto time = std::chrono::milliseconds(10 + 7 * output.replica);
    simulation_.WaitForExit(self, simulation_.now() + time);
  }
  void End(const std::vector<TensorView>&) override {}

  const std::string& LastOf(ProcessId process) { return last_[process]; }

 private:
  Simulation& simulation_;
  std::map<ProcessId, std::string> last_;
};

TEST(OverlappedStepTest, States_EqualThoseOfOneWorker) {
  for (const int workers : {2, 3, 4}) {
    TrainingFixture fixture;
    SlowPasses probe(fixture.simulation());
    fixture.LookBy(&probe);
    const AttemptResult incarnation = fixture.Run(workers, WideRun());
    ASSERT_TRUE(incarnation.AllExitedWith(WorkerExit::kDone))
        << incarnation.reasons[0];
    EXPECT_EQ(incarnation.result->digest, UndisturbedWideDigest()) << workers;
  }
}

TEST(OverlappedStepTest, WorkerThatDiesDuringThePass_IsLost) {
  TrainingFixture fixture;
  SlowPasses probe(fixture.simulation());
  fixture.LookBy(&probe);
  const FaultPlan plan = {
      .faults = {
          {.id = "crash",
           .site = {.worker = 1, .step = 4, .point = Point::kAllReduceReceive},
           .kind = FaultKind::kCrash}}};
  const AttemptResult incarnation = fixture.Run(2, WideRun(), plan);
  EXPECT_EQ(incarnation.exits[0], static_cast<int>(WorkerExit::kLostWorker));
  EXPECT_NE(probe.LastOf(1), "gradient of dense0/bias");
  const AttemptResult next = fixture.Run(2, WideRun());
  ASSERT_TRUE(next.AllExitedWith(WorkerExit::kDone)) << next.reasons[0];
  EXPECT_EQ(next.result->digest, UndisturbedWideDigest());
}

// A pass whose result comes from the memo reports no progress. This must not
// change the run, which is a function of its plan alone.
TEST(OverlappedStepTest, MemoChangesNoDecision) {
  TrainMemo memo;
  const auto digest_with = [](TrainMemo* used) {
    TrainingFixture fixture;
    fixture.UseMemo(used);
    EXPECT_TRUE(fixture.Run(2, WideRun()).AllExitedWith(WorkerExit::kDone));
    return fixture.simulation().digest();
  };
  const uint64_t computed = digest_with(nullptr);
  EXPECT_EQ(digest_with(&memo), computed);
  EXPECT_EQ(digest_with(&memo), computed);
  EXPECT_GT(memo.found(), 0u);
}

class OverlappedFaultTest : public testing::TestWithParam<FaultKind> {};

// Disturbs one step's exchange at each occurrence of each of its points.
TEST_P(OverlappedFaultTest, FaultAnywhereInTheExchange_LetsTheWorkersRejoin) {
  int fired = 0;
  for (const Point point : {Point::kAllReduceBegin, Point::kAllReduceSend,
                            Point::kAllReduceReceive, Point::kAllReduceEnd}) {
    for (const int worker : {0, 1}) {
      for (uint64_t occurrence = 1;; ++occurrence) {
        LaunchedRun run(WideRun(), {});
        const LaunchedEnd end =
            run.Run({.workers = 2, .restart = RestartPolicy::kRejoin},
                    {.faults = {{.id = "fault",
                                 .site = {.worker = worker,
                                          .step = 4,
                                          .point = point,
                                          .occurrence = occurrence},
                                 .kind = GetParam()}}});
        if (end.Of(EventKind::kFaultFired).empty()) break;
        ++fired;
        EXPECT_EQ(end.launch.result.value_or(TrainResult()).digest,
                  UndisturbedWideDigest())
            << PointName(point) << " " << occurrence << " of worker " << worker
            << ": " << end.launch.reason;
      }
    }
  }
  // 4 occurrences at begins and ends, 6 at sends and 6 at receives.
  EXPECT_EQ(fired, 16);
}

INSTANTIATE_TEST_SUITE_P(Faults, OverlappedFaultTest,
                         testing::Values(FaultKind::kCrash, FaultKind::kHang));

}  // namespace
}  // namespace gauntlet
