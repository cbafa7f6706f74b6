// The transport between emulated devices: a ring of channels over the world's
// network. It replaces NCCL on machines without NCCL, and faults of the network
// and of other workers affect it too.
#ifndef GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_
#define GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_

#include <cstdint>
#include <memory>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_kernels.h"
#include "engine/world/clock.h"
#include "engine/world/network.h"

namespace gauntlet {

// Channels to the neighbouring ranks; null if there is one rank.
struct CollectiveLinks {
  Clock& clock;
  uint64_t generation = 0;
  std::unique_ptr<Channel> next;
  std::unique_ptr<Channel> previous;
};

// Returns the function table for devices of gpu::EmulatedDevice().
const gpu::CollectiveApi& EmulatedCollective();

// Returns an emulated device with this transport.
gpu::DevicePlace EmulatedPlace();

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_RING_EMULATED_COLLECTIVE_H_
