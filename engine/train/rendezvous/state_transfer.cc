#include "engine/train/rendezvous/state_transfer.h"

#include <span>
#include <utility>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include "engine/train/rendezvous/received_state.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Sends the state, encoded like a shard with all tensors.
Status Send(const TrainState& state, const ExchangeKey& key, Ring& ring,
            Duration timeout) {
  const std::vector<TensorView>& tensors = state.Tensors();
  const SafetensorsLayout layout =
      LayOutSafetensors(tensors, state.position.step);
  std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(layout.header))};
  for (const size_t i : layout.order) parts.push_back(tensors[i].bytes);
  return ring.SendState(key, parts, timeout);
}

// Returns an upper bound for the encoded size of a state of the same job, whose
// history may be longer.
uint64_t MostBytesOf(const TrainState& state) {
  constexpr uint64_t kHeaderAndHistory = uint64_t{64} << 20;
  uint64_t bytes = 0;
  for (const TensorView& tensor : state.Tensors()) bytes += tensor.bytes.size();
  return bytes + kHeaderAndHistory;
}

// Checks that the state is the decided one.
Status Compare(const TrainState& state, const HeldState& decided) {
  const HeldState found = {.step = state.position.step,
                           .phase = state.position.phase_of(),
                           .digest = state.ComputeDigest()};
  if (found == decided) return OkStatus();
  return DataLoss(fmt::format(
      "expected step {} with digest {}, found step {} with {}", decided.step,
      decided.digest.ToString(), found.step, found.digest.ToString()));
}

// Sets the state from the received one.
Status Restore(ReceivedState& received, const HeldState& decided,
               const FaultPoints& faults, TrainState& state) {
  ASSIGN_OR_RETURN(const std::vector<TensorView> tensors, received.Finish());
  RETURN_IF_ERROR(state.Restore(tensors, faults));
  return Compare(state, decided);
}

}  // namespace

Status TransferState(World& world, Ring& ring, const StateTransfer& transfer,
                     ResidentState& resident) {
  TrainState& state = resident.host();
  const HeldState& decided = transfer.memory.state;
  const bool passes_on =
      Receives(transfer.memory, (ring.rank() + 1) % ring.size());
  const ExchangeKey key = {.step = decided.step, .phase = decided.phase};
  const PointContext here = {.step = decided.step};
  if (!Receives(transfer.memory, ring.rank())) {
    if (!passes_on) return OkStatus();
    RETURN_IF_ERROR(world.faults.Hit(Point::kStateSend, here));
    return Send(state, key, ring, transfer.timeout);
  }
  RETURN_IF_ERROR(resident.SyncForHostUpdate());
  TensorPlaces places;
  if (transfer.is_new) {
    places = [&state](const TensorView& tensor) {
      return state.PlaceToRestore(tensor);
    };
  }
  ReceivedState received(std::move(places));
  const TakeChunk take = [&received](std::span<const std::byte> chunk,
                                     uint64_t size) {
    received.Take(chunk, size);
  };
  RETURN_IF_ERROR(ring.ReceiveState(key, passes_on, MostBytesOf(state), take,
                                    transfer.timeout));
  RETURN_IF_ERROR(world.faults.Hit(Point::kStateReceive, here));
  const Status restored = Restore(received, decided, world.faults, state);
  if (restored.ok()) return restored;
  return DataLoss(fmt::format(
      "the state that rank {} sent: {}",
      SenderTo(transfer.memory, ring.rank(), ring.size()), restored.message()));
}

}  // namespace gauntlet
