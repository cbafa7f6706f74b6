#include "engine/train/loop/gradient_exchange.h"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/device_kernels.h"
#include "tests/engine/ckpt/test_world.h"
#include "tests/engine/train/guarded_device.h"
#include "tests/engine/world/memory_storage.h"

namespace gauntlet {
namespace {

using ::testing::ElementsAre;

// One worker with two replicas of two gradients and a loss.
class GradientExchangeTest : public testing::Test {
 protected:
  static constexpr GradientExchange::Sizes kSizes = {
      .replicas = 2, .gradients = 2, .extra = 1};

  GradientExchange ExchangeOn(const Kernels& kernels,
                              const GradientExchange::Sizes& sizes = kSizes) {
    return GradientExchange(
        {.world = world_.world, .ring = ring_, .kernels = kernels}, sizes);
  }

  static void Compute(GradientExchange& exchange, size_t replica,
                      std::vector<float> gradients, float loss) {
    std::ranges::copy(gradients, exchange.GradientBuffer(replica).begin());
    exchange.Add(replica);
    exchange.Extra(replica).back() = loss;
  }

  static KeptGradients Kept(std::vector<float> gradients_and_loss) {
    return std::make_shared<const std::vector<float>>(
        std::move(gradients_and_loss));
  }

  static std::vector<float> SumOf(GradientExchange& exchange) {
    Tally tally;
    EXPECT_TRUE(exchange.Sum({}, tally, std::chrono::seconds(1)).ok());
    std::vector<float> sum(exchange.Total().begin(), exchange.Total().end());
    sum.push_back(exchange.TotalExtra().back());
    return sum;
  }

  MemoryStorage storage_;
  TestWorld world_{storage_};
  std::unique_ptr<Kernels> host_ =
      std::move(Kernels::Create({.isa = Isa::kScalar})).value();
  Ring ring_{world_.world, *host_, {}, nullptr, nullptr};
};

// In each step some gradients are kept and some computed, and none remain from
// the last step.
TEST_F(GradientExchangeTest, KeptAndComputedGradientsAddUp) {
  GradientExchange exchange = ExchangeOn(*host_);
  ASSERT_TRUE(exchange.AcceptsKept());
  Compute(exchange, 0, {1.0f, 2.0f}, 0.5f);
  exchange.AddKept(1, Kept({10.0f, 20.0f, 0.25f}));
  EXPECT_THAT(SumOf(exchange), ElementsAre(11.0f, 22.0f, 0.75f));
  exchange.AddKept(0, Kept({3.0f, 4.0f, 1.0f}));
  Compute(exchange, 1, {30.0f, 40.0f}, 2.0f);
  EXPECT_THAT(SumOf(exchange), ElementsAre(33.0f, 44.0f, 3.0f));
}

// The owner of the kept gradients may release them while the exchange still
// uses them.
TEST_F(GradientExchangeTest, KeepsGradientsUntilTheNextExchange) {
  GradientExchange exchange = ExchangeOn(*host_);
  KeptGradients kept = Kept({1.0f, 2.0f, 0.5f});
  const std::weak_ptr<const std::vector<float>> seen = kept;
  exchange.AddKept(0, std::move(kept));
  Compute(exchange, 1, {0.0f, 0.0f}, 0.0f);
  EXPECT_THAT(SumOf(exchange), ElementsAre(1.0f, 2.0f, 0.5f));
  EXPECT_FALSE(seen.expired());
  Compute(exchange, 0, {0.0f, 0.0f}, 0.0f);
  EXPECT_TRUE(seen.expired());
}

TEST_F(GradientExchangeTest, KeepsItsArraysInTheNextGeneration) {
  GradientExchange exchange = ExchangeOn(*host_);
  const float* const array = exchange.GradientBuffer(1).data();
  Compute(exchange, 0, {5.0f, 6.0f}, 7.0f);  // the step is not completed
  Ring next{world_.world, *host_, {.generation = 2}, nullptr, nullptr};
  exchange.Rejoin(next, nullptr);
  EXPECT_EQ(exchange.GradientBuffer(1).data(), array);
  Compute(exchange, 0, {1.0f, 2.0f}, 0.5f);
  Compute(exchange, 1, {10.0f, 20.0f}, 0.25f);
  EXPECT_THAT(SumOf(exchange), ElementsAre(11.0f, 22.0f, 0.75f));
}

TEST_F(GradientExchangeTest, TakesNothingKept_WhenReplicasHaveState) {
  const GradientExchange exchange =
      ExchangeOn(*host_, {.replicas = 2, .gradients = 2, .extra = 5});
  EXPECT_FALSE(exchange.AcceptsKept());
}

TEST_F(GradientExchangeTest, TakesNothingKeptOnADevice) {
  const auto device =
      gpu::KernelsOn(GuardedDevice(), GuardedDevice().open(0, nullptr));
  EXPECT_FALSE(ExchangeOn(*device).AcceptsKept());
}

using GradientExchangeDeathTest = GradientExchangeTest;

TEST_F(GradientExchangeDeathTest, GradientsOfAnotherSizeAreABug) {
  GradientExchange exchange = ExchangeOn(*host_);
  EXPECT_DEATH(exchange.AddKept(0, Kept({1.0f, 0.5f})),
               "kept gradients have the size of those that are sent");
}

}  // namespace
}  // namespace gauntlet
