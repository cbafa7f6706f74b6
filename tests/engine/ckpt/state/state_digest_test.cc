#include "engine/ckpt/state/state_digest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/state/digest_stream.h"
#include "engine/ckpt/state/shard_plan.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

TensorView View(std::string name, std::span<const float> values) {
  return {.name = std::move(name),
          .shape = {values.size()},
          .bytes = std::as_bytes(values)};
}

TEST(StateDigestTest, IsTheRecordedOne) {
  EXPECT_EQ(StateDigest({}), DigestOf(std::string_view()));
  EXPECT_EQ(StateDigest(TestState(1).Views()).ToString(),
            "d28516f29c5a334a4dd88c59b8a523b7");
}

TEST(StateDigestTest, DoesNotDependOnTheOrderGiven) {
  const TestState state(4);
  auto views = state.Views();
  const Digest digest = StateDigest(views);
  std::ranges::reverse(views);
  EXPECT_EQ(StateDigest(views), digest);
}

// Digests pieces that begin and end anywhere in a block.
TEST(StateDigestTest, IsTheSameOfBytesInPieces) {
  std::vector<float> values(kDigestBlockBytes);  // four blocks
  values[1] = std::nanf("7");
  values.back() = 1.0f;
  const std::vector views = {View("b", values), View("a", {}),
                             View("c", std::span(values).first(3))};
  for (const size_t piece : {size_t{4}, size_t{1000}, kDigestBlockBytes,
                             kDigestBlockBytes + 4, size_t{1} << 20}) {
    std::vector<TensorView> tensors = views;
    std::vector<BlockDigests> blocks;
    for (TensorView& tensor : tensors) {
      BlockDigester digester(tensor.dtype);
      for (size_t at = 0; at < tensor.bytes.size(); at += piece) {
        digester.Update(tensor.bytes.subspan(
            at, std::min(piece, tensor.bytes.size() - at)));
      }
      blocks.push_back(digester.Finish());
      EXPECT_EQ(blocks.back(), BlockDigestsOf(tensor)) << piece;
      tensor.bytes = {};
    }
    EXPECT_EQ(StateDigest(tensors, blocks), StateDigest(views)) << piece;
  }
}

TEST(StateDigestTest, IsTheSameOfOneStateAgainAndAgain) {
  std::vector<float> values = {1.0f, 2.0f, std::nanf("7")};
  std::vector<float> grows;
  StateDigester digester;
  for (int i = 0; i < 6; ++i) {
    values[0] += 1.0f;
    if (i == 3) grows.resize(kDigestBlockBytes);
    const std::vector views = {View("a", grows), View("b", values)};
    EXPECT_EQ(digester.Compute(views), StateDigest(views)) << i;
  }
}

TEST(StateDigestTest, SeesNameShapeDtypeAndEveryBit) {
  const std::vector<float> values = {1.0f, 2.0f};
  const TensorView tensor = View("a", values);
  const Digest digest = StateDigest(std::vector{tensor});
  TensorView named = tensor;
  named.name.push_back('b');
  TensorView shaped = tensor;
  shaped.shape = {2, 1};
  TensorView typed = tensor;
  typed.dtype = DType::kU32;
  const std::vector<float> negative = {1.0f, -2.0f};
  for (const TensorView& other : {named, shaped, typed, View("a", negative)}) {
    EXPECT_NE(StateDigest(std::vector{other}), digest);
  }
}

TEST(StateDigestTest, TakesAllNansForOneAndBothZerosForTwo) {
  std::vector<float> values(20000, 0.5f);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  values[19999] = nan;
  const Digest digest = StateDigest(std::vector{View("a", values)});
  values[19999] = std::bit_cast<float>(0xffc00123u);
  EXPECT_EQ(StateDigest(std::vector{View("a", values)}), digest);
  values[19999] = std::numeric_limits<float>::infinity();
  EXPECT_NE(StateDigest(std::vector{View("a", values)}), digest);
  values[19999] = 0.0f;
  const Digest zero = StateDigest(std::vector{View("a", values)});
  values[19999] = -0.0f;
  EXPECT_NE(StateDigest(std::vector{View("a", values)}), zero);
}

TEST(StateDigestTest, NamesTheTensorThatDiffers) {
  const auto first = TensorDigests(TestState(1).Views());
  const auto second = TensorDigests(TestState(2).Views());
  std::vector<std::string> differing;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].digest != second[i].digest) {
      differing.push_back(first[i].name);
    }
  }
  EXPECT_THAT(differing, testing::ElementsAre("dense0/bias", "dense0/kernel",
                                              "position/step"));
}

TEST(DigestStreamTest, EqualsTheDigestOfAllPieces) {
  const std::string text(100000, 't');
  const auto bytes = std::as_bytes(std::span(text));
  DigestStream stream;
  stream.Update(bytes.first(7));
  stream.Update({});
  stream.Update(bytes.subspan(7));
  EXPECT_EQ(stream.Finish(), DigestOf(text));
}

TEST(ShardPlanTest, BalancesBytesAndDependsOnNamesAndSizesOnly) {
  const std::vector<float> big(10), middle(6), small(5);
  std::vector<TensorView> tensors = {View("d", small), View("c", small),
                                     View("b", middle), View("a", big)};
  const auto names = [&](const std::vector<size_t>& plan) {
    std::vector<std::set<std::string>> shards(2);
    for (size_t i = 0; i < plan.size(); ++i) {
      shards.at(plan[i]).insert(tensors[i].name);
    }
    return shards;
  };
  const auto plan = names(PartitionTensors(tensors, 2));
  EXPECT_THAT(plan, testing::ElementsAre(std::set<std::string>{"a", "d"},
                                         std::set<std::string>{"b", "c"}));
  std::ranges::reverse(tensors);
  EXPECT_EQ(names(PartitionTensors(tensors, 2)), plan);
}

TEST(ShardPlanTest, FillsTheFirstShards_IfTensorsAreFew) {
  const std::vector<float> one(1);
  const auto plan = PartitionTensors(std::vector{View("a", one)}, 3);
  EXPECT_THAT(plan, testing::ElementsAre(0));
}

}  // namespace
}  // namespace gauntlet
