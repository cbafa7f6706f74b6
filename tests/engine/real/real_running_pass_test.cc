// Exchanges that begin during a backward pass, with threads as tasks.
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/cluster/ring/ring.h"
#include "engine/math/kernels.h"
#include "engine/real/real_world.h"
#include "engine/world/queue.h"
#include "tests/engine/cluster/ring/passing_rank.h"
#include "tests/engine/cluster/ring/plain_sum.h"

namespace gauntlet {
namespace {

using Frames = std::shared_ptr<Queue<Frame>>;

// One direction of a connection within the process. Reports each sent frame.
class QueueChannel final : public Channel {
 public:
  QueueChannel(Frames frames, Queue<bool>& sent)
      : frames_(std::move(frames)), sent_(sent) {}
  Status Send(Frame frame, Time) override {
    frames_->Push(std::move(frame));
    sent_.Push(true);
    return OkStatus();
  }
  Result<Frame> Receive(Time deadline) override {
    std::optional<Frame> frame = frames_->Pop(deadline);
    if (!frame) return DeadlineExceeded("no frame");
    return *std::move(frame);
  }
  void Close() override { frames_->Close(); }
  const Nonce& nonce() const override { return nonce_; }

 private:
  Frames frames_;
  Queue<bool>& sent_;
  Nonce nonce_{};
};

constexpr size_t kRanks = 3;
constexpr size_t kLayers = 6;
constexpr size_t kChunksOfLayer = 3;
constexpr size_t kGradients = kLayers * kChunksOfLayer * Ring::kChunkFloats;
constexpr Duration kLong = std::chrono::minutes(1);

// Computes the layers of one rank while the exchange sums them. Waits so that
// the exchange stays about two layers behind.
void Train(World& world, size_t rank, const std::vector<Frames>& links,
           const Arrays& arrays) {
  const auto kernels = Kernels::Create({.threads = 2}).value();
  Queue<bool> sent(world.tasks);
  Ring ring(world, *kernels,
            {.rank = static_cast<int>(rank), .size = kRanks, .generation = 1},
            std::make_unique<QueueChannel>(links[rank], sent),
            std::make_unique<QueueChannel>(links[(rank + kRanks - 1) % kRanks],
                                           sent));
  PassingRank passing(world, ring, *kernels,
                      {arrays[2 * rank], arrays[2 * rank + 1]}, kGradients);
  passing.Begin(kLong);
  for (size_t layer = kLayers; layer-- > 1;) {
    passing.ComputeFrom(layer * kChunksOfLayer * Ring::kChunkFloats,
                        Duration::zero());
    if (layer + 1 == kLayers) continue;
    for (size_t chunk = 0; chunk < kChunksOfLayer; ++chunk) {
      EXPECT_TRUE(sent.Pop(world.clock.Now() + kLong)) << "rank " << rank;
    }
  }
  const Status status = passing.Complete({.samples = 1}, Duration::zero());
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_TRUE(SameBits(passing.sum(), PlainSum(arrays))) << "rank " << rank;
  EXPECT_EQ(passing.tally().samples, static_cast<int64_t>(kRanks));
}

TEST(RealRunningPassTest, SumsWhileThreadsCompute) {
  const Arrays arrays = MakeReplicas(2 * kRanks, kGradients + 1, 1);
  RealWorld real;
  World world = real.world();
  std::vector<Frames> links;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    links.push_back(std::make_shared<Queue<Frame>>(world.tasks));
  }
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] { Train(world, rank, links, arrays); });
  }
  for (std::thread& rank : ranks) rank.join();
}

}  // namespace
}  // namespace gauntlet
