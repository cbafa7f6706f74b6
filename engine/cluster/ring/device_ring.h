// The canonical sums of engine/cluster/ring/ring.h over arrays that stay on
// devices.
//
// The partial sum travels from rank 0 upwards in chunks, from device to device.
// On each rank the device adds the rank's replicas to the chunk one by one. The
// last rank sends the totals to all. The transport (usually NCCL) adds nothing.
//
// A communicator belongs to one generation. It is ready once all ranks have
// joined it. Ranks poll its progress, and never block in it. At the first error
// the communicator and the ring are aborted, as a loss ends the generation.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_DEVICE_RING_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_DEVICE_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/cluster/ring/emulated_collective.h"
#include "engine/cluster/ring/ring.h"
#include "engine/gpu/collective_api.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

class DeviceRing {
 public:
  // All objects outlive the DeviceRing. `kernels` compute on the device.
  struct Parts {
    World& world;
    Ring& ring;
    const Kernels& kernels;
    const gpu::CollectiveApi& api;
  };

  // Joins the communicator with that id. Returns when all ranks of the ring
  // have joined. `links`: channels for an `api` without a transport of its own,
  // else null. Error codes are those of Sum.
  static Result<std::unique_ptr<DeviceRing>> Create(
      const Parts& parts, const gpu::CommunicatorId& id,
      std::unique_ptr<CollectiveLinks> links, Duration timeout);
  ~DeviceRing() { End(); }
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;

  // Sets `total` to the sum over all replicas of all ranks in ascending order.
  // All arrays are in the kernels' memory and as long as `total`. Once a rank
  // has completed the next exchange of Parts::ring, all ranks have received
  // their totals. kUnavailable: a worker or the connection to it is lost;
  // kDeadlineExceeded: a worker sent nothing for `timeout`. After an error this
  // ring and Parts::ring are broken.
  Status Sum(const ExchangeKey& key,
             std::span<const std::span<const float>> local,
             std::span<float> total, Duration timeout);

 private:
  // A wait for an operation: the operation's name, for error messages, and the
  // time limit.
  struct Wait {
    std::string what;
    Duration timeout;
  };
  // One sum in progress.
  struct Reduction {
    ExchangeKey key;
    std::span<const std::span<const float>> local;
    std::span<float> total;
    Wait wait;
  };
  using Poll = gpu::CollectiveProgress (*)(gpu::Communicator*,
                                           gpu::DeviceText*);

  DeviceRing(const Parts& parts, std::unique_ptr<CollectiveLinks> links)
      : parts_(parts), links_(std::move(links)) {}

  Status Begin(const gpu::CommunicatorId& id, Duration timeout);
  Status Reduce(const Reduction& reduction);
  Status PassTotals(const Reduction& reduction);
  std::span<float> Chunk(const Reduction& reduction, size_t chunk) const;
  size_t Chunks(const Reduction& reduction) const;
  Status AddLocal(const Reduction& reduction, size_t chunk);
  Status Hit(Point point, const Reduction& reduction) const;
  Status AwaitAccepted(const Wait& wait);
  Status Await(Poll poll, const Wait& wait);
  Status WaitError(const Wait& wait, std::string_view why) const;
  void EmitWorkerLost(Reason reason, const Wait& wait) const;
  void End();
  void Abort();
  bool is_first() const { return parts_.ring.rank() == 0; }
  bool is_last() const { return parts_.ring.rank() == parts_.ring.size() - 1; }

  const Parts parts_;
  const std::unique_ptr<CollectiveLinks> links_;
  gpu::Communicator* communicator_ = nullptr;
  size_t accepted_ = 0;  // operations that are possibly not finished
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_DEVICE_RING_H_
