#include "engine/ckpt/known_states.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/ckpt/state_digest.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

constexpr size_t kRoomy = 1 << 20;
constexpr KnownStates::Moment kMoment = {.step = 3, .phase = 1};

std::optional<Digest> FindOf(const KnownStates& known, const TestState& state) {
  return known.Find(kMoment, state.Views());
}

Digest PutOf(KnownStates& known, const TestState& state) {
  const Digest digest = StateDigest(state.Views());
  known.Put(kMoment, state.Views(), digest);
  return digest;
}

TEST(KnownStatesTest, KnowsAStateOfTheSameBytes) {
  KnownStates known(kRoomy);
  EXPECT_EQ(FindOf(known, TestState(1)), std::nullopt);
  const Digest digest = PutOf(known, TestState(1));
  EXPECT_EQ(FindOf(known, TestState(1)), digest);
  EXPECT_EQ(known.found(), 1u);
}

// Each by itself makes another state of it.
TEST(KnownStatesTest, DoesNotKnowAStateThatDiffersInAnything) {
  KnownStates known(kRoomy);
  PutOf(known, TestState(1));
  const TestState state(1);
  for (size_t i = 0; i < state.Views().size(); ++i) {
    std::vector<TensorView> views = state.Views();
    std::vector<std::byte> bytes(views[i].bytes.begin(), views[i].bytes.end());
    bytes.back() ^= std::byte{1};
    views[i].bytes = bytes;
    EXPECT_EQ(known.Find(kMoment, views), std::nullopt);
    bytes.back() ^= std::byte{1};
    EXPECT_TRUE(known.Find(kMoment, views).has_value());
    const std::vector<std::function<void(TensorView&)>> changes = {
        [](TensorView& view) { view.bytes = view.bytes.subspan(1); },
        [](TensorView& view) { view.name.back() = '~'; },
        [](TensorView& view) { view.dtype = DType::kI64; },
        [](TensorView& view) { view.shape.push_back(1); }};
    for (const auto& change : changes) {
      views = state.Views();
      change(views[i]);
      EXPECT_EQ(known.Find(kMoment, views), std::nullopt);
    }
  }
}

TEST(KnownStatesTest, DoesNotKnowAStateWithATensorMoreOrLess) {
  KnownStates known(kRoomy);
  PutOf(known, TestState(1));
  const TestState state(1);
  std::vector<TensorView> views = state.Views();
  views.pop_back();
  EXPECT_EQ(known.Find(kMoment, views), std::nullopt);
  views = state.Views();
  views.push_back({.name = "~", .shape = {0}});
  EXPECT_EQ(known.Find(kMoment, views), std::nullopt);
}

TEST(KnownStatesTest, KnowsTheLatestStateOfEachMoment) {
  KnownStates known(kRoomy);
  PutOf(known, TestState(1));
  const size_t bytes = known.bytes();
  const Digest second = PutOf(known, TestState(2));
  EXPECT_EQ(FindOf(known, TestState(1)), std::nullopt);
  EXPECT_EQ(FindOf(known, TestState(2)), second);
  EXPECT_EQ(known.bytes(), bytes);
  const TestState other(4);
  known.Put({.step = 4}, other.Views(), {.low = 4});
  EXPECT_EQ(known.Find({.step = 4}, other.Views()), Digest{.low = 4});
  EXPECT_EQ(FindOf(known, TestState(2)), second);
}

TEST(KnownStatesTest, ForgetsWhenItIsFull) {
  KnownStates roomy(kRoomy);
  PutOf(roomy, TestState(1));
  const size_t one = roomy.bytes();
  KnownStates known(2 * one);
  for (uint64_t step = 1; step <= 9; ++step) {
    const TestState state(step);
    known.Put({.step = step}, state.Views(), {.low = step});
    EXPECT_LE(known.bytes(), 2 * one);
    EXPECT_EQ(known.Find({.step = step}, state.Views()), Digest{.low = step});
  }
  EXPECT_EQ(known.Find({.step = 1}, TestState(1).Views()), std::nullopt);
}

TEST(KnownStatesTest, KeepsNoStateThatIsLargerThanAll) {
  KnownStates known(10);
  PutOf(known, TestState(1));
  EXPECT_EQ(FindOf(known, TestState(1)), std::nullopt);
  EXPECT_EQ(known.bytes(), 0u);
}

}  // namespace
}  // namespace gauntlet
