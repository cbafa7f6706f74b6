// The canonical ring: sums over replicas in ascending order, independent of the
// number of workers, and exchange of texts between all ranks.
//
// Ranks hold contiguous ascending blocks of replicas. A partial sum travels
// from rank 0 upwards in chunks. Each rank adds its replicas to it one by one,
// so the sum is ((g0 + g1) + g2) + … for any split. The last rank's result then
// travels around the ring. Chunks are pipelined: no rank waits for a whole
// array.
//
// An exchange may begin while a backward pass still computes the rank's last
// array. Chunks then travel in the order in which a pass completes them: from
// the end of the gradients to their beginning. Each rank adds its replicas to a
// chunk once its own pass has completed that chunk.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_RING_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster/link/chunk_format.h"
#include "engine/cluster/ring/pass_progress.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Identifies an exchange; a frame of another exchange is an error.
struct ExchangeKey {
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
};

// Integers that an all-reduce combines over all ranks, together with its array.
struct Tally {
  uint32_t requests = 0;  // combined with OR
  int64_t correct = 0;    // summed
  int64_t samples = 0;    // summed
};

struct RingPlace {
  int rank = 0;
  int size = 1;
  uint64_t generation = 0;
};

// A backward pass that runs during an exchange and computes this rank's last
// array.
struct RunningPass {
  PassProgress& progress;
  // Kernels with which the exchange adds replicas until the pass is complete.
  // The pass may use the ring's own kernels, and kernels serve only one task at
  // a time.
  const Kernels& kernels;
};

// A rank's part in an all-reduce.
struct RingArrays {
  // Arrays of this rank's replicas, at least one. Each is as long as `total`,
  // which has at least one float.
  std::span<const std::span<const float>> local;
  // Receives the sum. May be the same memory as the first of `local`, which is
  // then overwritten, even if an error is returned.
  std::span<float> total;
  // A number of floats at the beginning of the arrays. The complete chunks
  // within them are summed first, in descending order. Then the other chunks
  // are summed in ascending order. Equal on all ranks.
  size_t last_to_first = 0;
  // Null: `local` and the tally are final. Otherwise the pass reports which of
  // the first `last_to_first` floats are final; all other floats and the tally
  // are final when the pass is complete.
  const RunningPass* pass = nullptr;
};

// Takes a chunk of a state; `size` is that of the whole state.
using TakeChunk =
    std::function<void(std::span<const std::byte> chunk, uint64_t size)>;

// The two channels may be null if size is 1. Used by one task at a time; Abort
// may be called from any task.
class Ring {
 public:
  Ring(World& world, const Kernels& kernels, const RingPlace& place,
       std::unique_ptr<Channel> next, std::unique_ptr<Channel> previous);

  // Floats in a chunk: 256 KiB, the fastest size for gRPC streams.
  static constexpr size_t kChunkFloats = 64 * 1024;

  // Sets `total` to the sum over all replicas of all ranks in ascending order;
  // see RingArrays. `tally` contains this rank's numbers, and is set to those
  // of the cluster. kUnavailable: a neighbour is lost; kDeadlineExceeded: a
  // neighbour sent nothing for `timeout`.
  Status AllReduce(const ExchangeKey& key,
                   std::span<const std::span<const float>> local,
                   std::span<float> total, Tally& tally, Duration timeout);

  // As AllReduce, but leaves the fault points at begin and end to the caller. A
  // wait for the previous rank times out only if `timeout` has also passed
  // since this rank's own pass completed.
  Status Reduce(const ExchangeKey& key, const RingArrays& arrays, Tally& tally,
                Duration timeout);

  // Sends `payload` to all ranks and returns the texts of all, by rank.
  Result<std::vector<std::string>> AllGather(const ExchangeKey& key,
                                             const std::string& payload,
                                             Duration timeout);

  // Sends a state to the next rank, which calls ReceiveState: the bytes of
  // `parts`, one part after the other.
  Status SendState(const ExchangeKey& key,
                   std::span<const std::span<const std::byte>> parts,
                   Duration timeout);
  // Receives a state from the previous rank. Calls `take` with each chunk and
  // the size of the whole state; then, if `passes_on`, forwards the chunk to
  // the next rank. kDataLoss if the state has more than `limit` bytes, or a
  // chunk is malformed. REQUIRES: `take` is not empty.
  Status ReceiveState(const ExchangeKey& key, bool passes_on, uint64_t limit,
                      const TakeChunk& take, Duration timeout);

  // Emits kLeaving, as this rank is about to close its connections, and marks
  // the ring broken. Has no effect if the ring is broken already.
  void EmitLeaving();
  // Breaks both channels: all waits end with kUnavailable.
  void Abort();

  // Returns true if a channel failed, or this process has aborted the ring: a
  // neighbour may be lost. May be called from any task.
  bool is_broken() const { return broken_; }

  int rank() const { return place_.rank; }
  uint64_t generation() const { return place_.generation; }
  int size() const { return place_.size; }

 private:
  // Number of chunks that a rank sends before it waits for the first total. The
  // links must be able to hold so many, whatever the size of the array.
  static constexpr uint32_t kChunksInFlight = 16;

  static constexpr size_t kStateChunkBytes = size_t{256} << 10;

  Time DeadlineAfter(Duration timeout) const {
    return world_->clock.Now() + timeout;
  }
  // Send sends to the next rank; Receive receives from the previous one. A
  // failure breaks the ring. The timeout of Receive starts again when `pass`
  // completes.
  Status Send(Frame frame, Duration timeout);
  Result<Frame> Receive(Duration timeout, const RunningPass* pass = nullptr);
  void EmitWorkerLost(int rank, const Status& status, Duration timeout);
  // PrepareChunk is called before a chunk is sent: it reaches the fault point
  // and sets the frame's header. AnnotateSend adds this rank to the error if
  // sending failed.
  Status PrepareChunk(const ChunkHeader& header, Frame& frame);
  Status AnnotateSend(Status sent);
  // Returns the header of `received`, a frame from the previous rank. Returns
  // an error if another header is expected.
  Result<ChunkHeader> ExpectHeader(const Result<Frame>& received,
                                   ChunkKind kind, const ExchangeKey& key,
                                   uint32_t chunk);
  ChunkHeader HeaderFor(ChunkKind kind, const ExchangeKey& key,
                        uint32_t chunk) const;
  // One exchange in progress. A partial sum is computed in place, in the frame
  // that is sent on. Chunks are numbered by their place in the array.
  struct Reduction {
    ExchangeKey key;
    RingArrays arrays;
    Tally& tally;
    Duration timeout;

    uint32_t chunks() const;
    // Number of chunks that are summed in descending order, before the others.
    uint32_t descending() const;
    // Returns the n-th chunk to be summed.
    uint32_t ChunkAt(uint32_t n) const;
    // Returns true for the chunk that is summed last: it carries the tally.
    bool CarriesTally(uint32_t chunk) const;
    // Waits until this rank's values of the chunk are final.
    void AwaitValues(uint32_t chunk) const;
    std::span<float> Chunk(uint32_t chunk) const;
    std::span<const float> LocalChunk(size_t replica, uint32_t chunk) const;
  };
  Result<ChunkHeader> ExpectChunk(const Result<Frame>& received,
                                  const Reduction& reduction, ChunkKind kind,
                                  uint32_t chunk);
  // Adds this rank's replicas to the sum, beginning with the replica at index
  // `first`.
  void AddReplicas(const Reduction& reduction, uint32_t chunk, size_t first,
                   std::span<float> sum) const;
  Status ReduceChunk(const Reduction& reduction, uint32_t chunk);
  Status PassTotal(const Reduction& reduction, uint32_t chunk);
  // Returns Ok iff `received` has a list of `size` items, of the expected
  // round.
  Status ExpectList(const Result<Frame>& received, const ExchangeKey& key,
                    uint32_t round, size_t size);
  bool is_last() const { return place_.rank == place_.size - 1; }

  World* world_;
  const Kernels* kernels_;
  RingPlace place_;
  std::unique_ptr<Channel> next_;
  std::unique_ptr<Channel> previous_;
  std::atomic<bool> broken_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_RING_H_
