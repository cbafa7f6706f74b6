// The canonical sums of engine/cluster/ring/ring.h over arrays that lie on
// devices, and stay there.
//
// The partial sum goes from rank 0 upwards in chunks, from device to device;
// each rank adds its replicas to it one by one, by its own device's additions,
// and the last rank's totals go to all. Whoever moves the arrays (NCCL, as a
// rule) adds nothing.
//
// A communicator is of one generation. It is there once all ranks have it, is
// looked at while it works, never waited for, and is ended at the first thing
// that goes wrong, with the ring beside it: a loss ends the generation.
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
  // All of it outlives the ring of devices. `kernels` are the device's.
  struct Parts {
    World& world;
    Ring& ring;
    const Kernels& kernels;
    const gpu::CollectiveApi& api;
  };

  // Returns once all ranks of the ring have joined the communicator of that id.
  // `links`: null, or what a table needs that has no way of its own. Codes as
  // of Sum.
  static Result<std::unique_ptr<DeviceRing>> Create(
      const Parts& parts, const gpu::CommunicatorId& id,
      std::unique_ptr<CollectiveLinks> links, Duration timeout);
  ~DeviceRing() { End(); }
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;

  // total = the sum over all replicas of all ranks in ascending order; all
  // arrays lie in the kernels' memory and are as long as `total`. Once a rank
  // goes on from the ring's next exchange, all have their totals. kUnavailable:
  // a worker is lost, or the way to it; kDeadlineExceeded: one gave no sign for
  // `timeout`. After an error this ring and the other are broken.
  Status Sum(const ExchangeKey& key,
             std::span<const std::span<const float>> local,
             std::span<float> total, Duration timeout);

 private:
  // Description of a wait, for its error message.
  struct Wait {
    std::string what;
    Duration timeout;
  };
  // One sum under way.
  struct Reduction {
    ExchangeKey key;
    std::span<const std::span<const float>> local;
    std::span<float> total;
    Wait wait;
  };
  using Look = gpu::CollectiveProgress (*)(gpu::Communicator*,
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
  Status Await(Look look, const Wait& wait);
  Status Failed(const Wait& wait, std::string_view why) const;
  void NoteLoss(Reason reason, const Wait& wait) const;
  void End();
  void Break();
  bool first() const { return parts_.ring.rank() == 0; }
  bool last() const { return parts_.ring.rank() == parts_.ring.size() - 1; }

  const Parts parts_;
  const std::unique_ptr<CollectiveLinks> links_;
  gpu::Communicator* communicator_ = nullptr;
  size_t accepted_ = 0;  // and maybe not done yet
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_DEVICE_RING_H_
