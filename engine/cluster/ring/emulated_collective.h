// The way between emulated devices: over the world's network, in a ring of
// channels of its own. It stands in for NCCL where there is none, and meets
// what the network and the other workers meet.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_

#include <cstdint>
#include <memory>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_kernels.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// The channels to the ranks beside this one; null where there is one rank.
struct CollectiveLinks {
  Clock& clock;
  uint64_t generation = 0;
  std::unique_ptr<Channel> next;
  std::unique_ptr<Channel> previous;
};

// For devices of gpu::EmulatedDevice().
const gpu::CollectiveApi& EmulatedCollective();

// An emulated device, and this way to the others.
gpu::DevicePlace EmulatedPlace();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_
