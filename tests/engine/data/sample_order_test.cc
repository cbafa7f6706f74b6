#include "engine/data/sample_order.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gauntlet {
namespace {

using Counts = std::vector<int>;

struct Epoch {
  uint64_t rng_key = 0;
  uint64_t number = 0;
  uint32_t samples = 0;
  uint64_t replicas = 1;
  uint64_t batch = 1;
};

// Returns how often an epoch that keeps its remainder uses each sample.
Counts UseEpoch(const Epoch& epoch) {
  const SampleOrder order(epoch.rng_key, epoch.number, epoch.samples);
  const uint64_t global_batch = epoch.replicas * epoch.batch;
  Counts used(epoch.samples);
  for (uint64_t at = 0; at < epoch.samples; at += global_batch) {
    const uint64_t step_samples = std::min(epoch.samples - at, global_batch);
    for (uint64_t replica = 0; replica < epoch.replicas; ++replica) {
      const SampleRange range =
          ReplicaSamples(at, step_samples, epoch.batch, replica);
      for (uint64_t i = 0; i < range.count; ++i) {
        ++used.at(order.SampleAt(range.first + i));
      }
    }
  }
  return used;
}

RC_GTEST_PROP(SampleOrderTest, EverySampleIsUsedOnceInAnEpoch,
              (uint64_t rng_key, uint64_t number)) {
  const Epoch epoch{.rng_key = rng_key,
                    .number = number,
                    .samples = *rc::gen::inRange<uint32_t>(1, 2000),
                    .replicas = *rc::gen::inRange<uint64_t>(1, 20),
                    .batch = *rc::gen::inRange<uint64_t>(1, 70)};
  RC_ASSERT(UseEpoch(epoch) == Counts(epoch.samples, 1));
}

RC_GTEST_PROP(SampleOrderTest, SamplesOfAStepDoNotDependOnTheReplicas, ()) {
  const auto replicas = *rc::gen::inRange<uint64_t>(1, 9);
  const auto batch = *rc::gen::inRange<uint64_t>(1, 17);
  const auto step_samples =
      *rc::gen::inRange<uint64_t>(0, replicas * batch + 1);
  const auto position = *rc::gen::inRange<uint64_t>(0, 1000);
  uint64_t next = position;
  for (uint64_t replica = 0; replica < replicas; ++replica) {
    const SampleRange range =
        ReplicaSamples(position, step_samples, batch, replica);
    RC_ASSERT(range.first == next);
    RC_ASSERT(range.count <= batch);
    // Only replicas after one that is not full may be empty.
    RC_ASSERT(range.count == batch ||
              range.first + range.count == position + step_samples);
    next += range.count;
  }
  RC_ASSERT(next == position + step_samples);
}

RC_GTEST_PROP(SampleOrderTest, EvaluationSharesAreContiguousAndBalanced, ()) {
  const auto samples = *rc::gen::inRange<uint64_t>(0, 5000);
  const auto replicas = *rc::gen::inRange<uint64_t>(1, 64);
  uint64_t next = 0;
  for (uint64_t replica = 0; replica < replicas; ++replica) {
    const SampleRange range = EvaluationSamples(samples, replicas, replica);
    RC_ASSERT(range.first == next);
    RC_ASSERT(range.count == samples / replicas ||
              range.count == samples / replicas + 1);
    next += range.count;
  }
  RC_ASSERT(next == samples);
}

TEST(SampleOrderTest, EpochOfOneSampleIsThatSample) {
  EXPECT_EQ(SampleOrder(7, 3, 1).SampleAt(0), 0u);
}

TEST(SampleOrderTest, OtherEpochsAndOtherKeysHaveOtherOrders) {
  std::vector<std::vector<uint32_t>> orders;
  for (const auto& [key, epoch] :
       {std::pair{1, 0}, std::pair{1, 1}, std::pair{2, 0}}) {
    const SampleOrder order(static_cast<uint64_t>(key),
                            static_cast<uint64_t>(epoch), 100);
    std::vector<uint32_t>& samples = orders.emplace_back();
    for (uint64_t i = 0; i < 100; ++i) samples.push_back(order.SampleAt(i));
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
}

TEST(SampleOrderDeathTest, PositionPastTheEpochStopsTheProgram) {
  const SampleOrder order(1, 0, 10);
  EXPECT_DEATH(order.SampleAt(10), "position 10 of an epoch of 10 samples");
}

}  // namespace
}  // namespace gauntlet
