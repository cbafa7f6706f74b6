// The canonical ring: sums over replicas in ascending order, whatever the
// number of workers, and lists of what each rank has to say.
//
// Ranks hold contiguous ascending blocks of replicas. A partial sum travels
// from rank 0 upwards in chunks; each rank adds its replicas to it one by one,
// so the sum is ((g0 + g1) + g2) + … for any split. The last rank's result then
// travels round. Chunks pipeline: no rank waits for a whole array.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_RING_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_RING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/link/chunk_format.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Which exchange this is; a frame of another one is an error.
struct ExchangeKey {
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
};

// Integers that ride along with an all-reduce.
struct Tally {
  uint32_t requests = 0;  // or-ed
  int64_t correct = 0;    // summed
  int64_t rows = 0;       // summed
};

struct RingPlace {
  int rank = 0;
  int size = 1;
  uint64_t generation = 0;
};

// The two channels may be null where size is 1. One task uses it at a time;
// Abort may come from any.
class Ring {
 public:
  Ring(World& world, const Kernels& kernels, const RingPlace& place,
       std::unique_ptr<Channel> next, std::unique_ptr<Channel> previous);

  // total = sum over all replicas of all ranks in ascending order; `local` has
  // this rank's, each as long as `total`, at least one float; `total` may be
  // the first of them, which is overwritten even after an error. `tally` goes
  // in with this rank's numbers and comes out with the cluster's. kUnavailable:
  // a neighbour is lost; kDeadlineExceeded: one gave no sign for `timeout`.
  Status AllReduce(const ExchangeKey& key,
                   std::span<const std::span<const float>> local,
                   std::span<float> total, Tally& tally, Duration timeout);

  // Like AllReduce, as a part of an exchange whose begin and end the caller
  // reports to the fault points.
  Status Reduce(const ExchangeKey& key,
                std::span<const std::span<const float>> local,
                std::span<float> total, Tally& tally, Duration timeout);

  // Sends `said` to all ranks and returns the texts of all, by rank.
  Result<std::vector<std::string>> AllGather(const ExchangeKey& key,
                                             const std::string& said,
                                             Duration timeout);

  // Brings `bytes` from rank `root` to all; those of the others are ignored.
  // kDataLoss if the root announces more than `limit` bytes.
  Result<std::string> Broadcast(const ExchangeKey& key, int root,
                                std::string bytes, uint64_t limit,
                                Duration timeout);

  // Announces to the other ranks that they are about to lose their connections
  // to this one. Call it once, before closing them. Does nothing if the ring is
  // broken.
  void SayLeaving();
  // Breaks both channels: whatever waits ends with kUnavailable.
  void Abort();

  // True if a channel failed or was broken here: a neighbour may be lost.
  // Callable from any task.
  bool is_broken() const { return broken_; }

  int rank() const { return place_.rank; }
  uint64_t generation() const { return place_.generation; }
  int size() const { return place_.size; }

 private:
  // Floats in a chunk: 256 KiB, the size that gRPC streams best.
  static constexpr size_t kChunkFloats = 64 * 1024;
  // Chunks on their way before the first total is waited for: what the links
  // must be able to hold, whatever the size of the array.
  static constexpr uint32_t kChunksUnderWay = 16;

  static constexpr size_t kStateChunkBytes = size_t{256} << 10;

  Time Until(Duration timeout) const { return world_->clock.Now() + timeout; }
  // Sends to the next rank; receives from the one before. A failure breaks the
  // ring.
  Status Send(Frame frame, Duration timeout);
  Result<Frame> Receive(Duration timeout);
  void NoteLoss(int rank, const Status& status, Duration timeout);
  // Completes a chunk before it is sent; names this rank if sending it failed.
  Status PrepareChunk(const ChunkHeader& header, Frame& frame);
  Status SentChunk(Status sent);
  // Returns the header of the frame from the rank before, if it is the expected
  // one.
  Result<ChunkHeader> Expect(const Result<Frame>& came, ChunkKind kind,
                             const ExchangeKey& key, uint32_t chunk);
  ChunkHeader HeaderFor(ChunkKind kind, const ExchangeKey& key,
                        uint32_t chunk) const;
  // One exchange under way. A sum is computed in the frame that it travels in.
  struct Reduction {
    ExchangeKey key;
    std::span<const std::span<const float>> local;
    std::span<float> total;
    Tally& tally;
    Duration timeout;

    uint32_t chunks() const;
    std::span<float> Chunk(uint32_t chunk) const;
    std::span<const float> LocalChunk(size_t replica, uint32_t chunk) const;
  };
  Result<ChunkHeader> ExpectChunk(const Result<Frame>& came,
                                  const Reduction& reduction, ChunkKind kind,
                                  uint32_t chunk);
  Status ReduceChunk(const Reduction& reduction, uint32_t chunk);
  Status PassTotal(const Reduction& reduction, uint32_t chunk);
  // A list of so many items.
  Status ExpectList(const Result<Frame>& came, const ExchangeKey& key,
                    uint32_t round, size_t size);
  Status SendState(const ExchangeKey& key, std::string_view bytes,
                   Duration timeout);
  Result<std::string> TakeState(const ExchangeKey& key, int root,
                                uint64_t limit, Duration timeout);
  bool last() const { return place_.rank == place_.size - 1; }

  World* world_;
  const Kernels* kernels_;
  RingPlace place_;
  std::unique_ptr<Channel> next_;
  std::unique_ptr<Channel> previous_;
  std::atomic<bool> broken_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_RING_H_
