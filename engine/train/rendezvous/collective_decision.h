// Which way a generation sums its gradients: over the network in the host's
// memory, or from device to device. The chief decides for all ranks, by what
// each says of itself as they meet.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COLLECTIVE_DECISION_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COLLECTIVE_DECISION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/gpu/collective_api.h"
#include "engine/gpu/device_kernels.h"
#include "engine/math/kernels.h"
#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Means of a worker for an exchange between devices.
struct CollectiveOffer {
  // Reason why it cannot take part; empty: it can.
  std::string unavailable_reason;
  std::string version;  // "nccl 2.28.9": all ranks need the same
  // Its device, by a name that no other device has; empty: no other worker can
  // be on this device.
  std::string device;
  gpu::CollectiveUse use = gpu::CollectiveUse::kAlways;

  bool operator==(const CollectiveOffer&) const = default;
};

// Returns the offer of a worker that computes on that kind of device, there.
CollectiveOffer OfferOf(DeviceKind kind, const gpu::DevicePlace& place);

// Encodes an offer for the chief. kDataLoss if malformed.
std::string EncodeOffer(const CollectiveOffer& offer);
Result<CollectiveOffer> DecodeOffer(std::string_view bytes);

struct CollectiveDecision {
  // None: the ring, in the host's memory.
  std::optional<gpu::CommunicatorId> communicator;
  // One line for people; empty if there was no choice.
  std::string line;
};

// Decides from the offers by rank; at least one. The id of a communicator is
// not made yet. kInvalidArgument: NCCL was requested and is not available, with
// the reason.
Result<CollectiveDecision> DecideCollective(
    CollectiveChoice choice, std::span<const CollectiveOffer> offers);

// Decides for the ring, with this reason.
CollectiveDecision RingBecause(const std::string& why);

// Encodes a decision for the other ranks. kDataLoss if malformed.
std::string EncodeCollective(const CollectiveDecision& decision);
Result<CollectiveDecision> DecodeCollective(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COLLECTIVE_DECISION_H_
