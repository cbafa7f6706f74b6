// Choice of how a generation sums its gradients: over the network in host
// memory, or from device to device. The chief decides for all ranks, from the
// offers that they send at the rendezvous.
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

// Capabilities of a worker for an exchange between devices.
struct CollectiveOffer {
  // Reason why the worker cannot take part; empty: it can.
  std::string unavailable_reason;
  std::string version;  // "nccl 2.28.9": must be equal on all ranks
  // Globally unique name of the worker's device; empty: no other worker can
  // share this device.
  std::string device;
  gpu::CollectiveUse use = gpu::CollectiveUse::kAlways;

  bool operator==(const CollectiveOffer&) const = default;
};

// Returns the offer of a worker whose device is of that kind, at `place`.
CollectiveOffer OfferOf(DeviceKind kind, const gpu::DevicePlace& place);

// Encode and decode an offer, which a worker sends to the chief. DecodeOffer
// returns kDataLoss if `bytes` are malformed.
std::string EncodeOffer(const CollectiveOffer& offer);
Result<CollectiveOffer> DecodeOffer(std::string_view bytes);

struct CollectiveDecision {
  // Set: NCCL, with this communicator. nullopt: the ring, in host memory.
  std::optional<gpu::CommunicatorId> communicator;
  // One line for people about the decision; empty if there was no choice.
  std::string line;
};

// Decides from the offers, which are in order of ranks. Does not fill in the
// communicator's id. kInvalidArgument: NCCL was requested but is not available;
// the message has the reason. REQUIRES: at least one offer.
Result<CollectiveDecision> DecideCollective(
    CollectiveChoice choice, std::span<const CollectiveOffer> offers);

// Returns a decision for the ring, with this reason.
CollectiveDecision FallBackToRing(const std::string& why);

// Encode and decode a decision, which the chief sends to the other ranks.
// DecodeCollective returns kDataLoss if `bytes` are malformed.
std::string EncodeCollective(const CollectiveDecision& decision);
Result<CollectiveDecision> DecodeCollective(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COLLECTIVE_DECISION_H_
