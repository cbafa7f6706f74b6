// A run that shares a memo with another run whose state diverged from its own:
// same steps, same samples, other values.
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "engine/train/loop/train_memo.h"
#include "tests/engine/train/training_fixture.h"

namespace gauntlet {
namespace {

// Step, phase, digest and loss of each state that a run of one worker reports.
using ReportedState = std::tuple<uint64_t, Phase, Digest, uint32_t>;

std::vector<ReportedState> StatesOf(TrainMemo* memo, LoopHooks* hooks,
                                    StepProbe* probe) {
  TrainingFixture fixture;
  fixture.UseMemo(memo);
  fixture.set_hooks(hooks);
  fixture.LookBy(probe);
  TrainOptions options = SmallRun();
  options.checkpoint = {};
  const AttemptResult incarnation = fixture.Run(1, options);
  EXPECT_TRUE(incarnation.result.has_value());
  std::vector<ReportedState> states;
  for (const LogEvent& event : incarnation.events[0]) {
    if (!event.digest) continue;
    states.emplace_back(event.step, event.phase, *event.digest,
                        event.loss_bits);
  }
  return states;
}

// Expects the same states with and without a memo that holds the undisturbed
// run.
void ExpectTheSameWithAMemo(LoopHooks* hooks, StepProbe* probe) {
  TrainMemo memo;
  const std::vector<ReportedState> undisturbed =
      StatesOf(&memo, nullptr, nullptr);
  const std::vector<ReportedState> computed = StatesOf(nullptr, hooks, probe);
  EXPECT_NE(computed, undisturbed);
  EXPECT_EQ(StatesOf(&memo, hooks, probe), computed);
}

// Changes a sum of gradients, in one step.
class WrongSum final : public StepProbe {
 public:
  bool Begin(uint64_t step, Phase phase,
             const std::vector<TensorView>&) override {
    return step == kSteps / 2 && phase == Phase::kInEpoch;
  }
  void Saw(const OperationOutput& output, std::span<float> values) override {
    if (output.name.starts_with("sum over the replicas")) values[0] += 1.0f;
  }
  void End(const std::vector<TensorView>&) override {}
};

TEST(MemoizedRunTest, WrongSum_ChangesAllLaterStates) {
  WrongSum probe;
  ExpectTheSameWithAMemo(nullptr, &probe);
}

enum class HookPoint { kTrainBegin, kEpochBegin, kStepEnd, kEpochEnd };

// Changes a parameter and a slot at one kind of point, in one epoch.
class Changing final : public LoopHooks {
 public:
  explicit Changing(HookPoint point) : point_(point) {}
  Status TrainBegin(TrainState& state) override {
    return At(HookPoint::kTrainBegin, state, kEpoch);
  }
  Status EpochBegin(TrainState& state) override {
    return At(HookPoint::kEpochBegin, state, state.position.epoch);
  }
  Status StepEnd(TrainState& state, const StepOutcome&) override {
    return At(HookPoint::kStepEnd, state, state.position.epoch);
  }
  // The position is already in the next epoch.
  Status EpochEnd(TrainState& state) override {
    return At(HookPoint::kEpochEnd, state, state.position.epoch - 1);
  }

 private:
  static constexpr uint64_t kEpoch = 1;

  Status At(HookPoint point, TrainState& state, uint64_t epoch) const {
    if (point != point_ || epoch != kEpoch) return OkStatus();
    state.parameters.back() += 0.5f;
    state.optimizer.slots[0].back() += 0.5f;
    return OkStatus();
  }

  const HookPoint point_;
};

class HookedRunTest : public testing::TestWithParam<HookPoint> {};

TEST_P(HookedRunTest, ChangeByAHookInvalidatesEarlierDigests) {
  Changing hooks(GetParam());
  ExpectTheSameWithAMemo(&hooks, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Moments, HookedRunTest,
                         testing::Values(HookPoint::kTrainBegin,
                                         HookPoint::kEpochBegin,
                                         HookPoint::kStepEnd,
                                         HookPoint::kEpochEnd));

}  // namespace
}  // namespace gauntlet
