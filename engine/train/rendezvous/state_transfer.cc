#include "engine/train/rendezvous/state_transfer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/ckpt/format/safetensors.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Encodes the state like a shard with all tensors.
std::string EncodeState(const TrainState& state) {
  const std::vector<TensorView>& tensors = state.Tensors();
  SafetensorsLayout layout = LayOutSafetensors(tensors, state.position.step);
  std::string bytes = std::move(layout.header);
  for (const size_t i : layout.order) {
    const std::span<const std::byte> part = tensors[i].bytes;
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return bytes;
}

// Returns an upper bound for the encoded size of a state of the same job, whose
// history may be longer.
uint64_t MostBytesOf(const TrainState& state) {
  constexpr uint64_t kHeaderAndHistory = uint64_t{64} << 20;
  uint64_t bytes = 0;
  for (const TensorView& tensor : state.Tensors()) bytes += tensor.bytes.size();
  return bytes + kHeaderAndHistory;
}

Status RestoreFrom(const std::string& bytes, const FaultPoints& faults,
                   ResidentState& resident) {
  ASSIGN_OR_RETURN(std::vector<TensorView> tensors,
                   ParseSafetensors(std::as_bytes(std::span(bytes))));
  std::ranges::sort(tensors, {}, &TensorView::name);
  RETURN_IF_ERROR(resident.SyncForHostUpdate());
  return resident.host().Restore(tensors, faults);
}

}  // namespace

Status TransferState(World& world, Ring& ring, const StateTransfer& transfer,
                     ResidentState& resident) {
  const TrainState& state = resident.host();
  const HeldState& decided = transfer.memory.state;
  const ExchangeKey key = {.step = decided.step, .phase = decided.phase};
  const bool sends = ring.rank() == transfer.memory.holder;
  const PointContext here = {.step = decided.step};
  if (sends) RETURN_IF_ERROR(world.faults.Hit(Point::kStateSend, here));
  ASSIGN_OR_RETURN(const std::string bytes,
                   ring.Broadcast(key, transfer.memory.holder,
                                  sends ? EncodeState(state) : std::string(),
                                  MostBytesOf(state), transfer.timeout));
  if (transfer.holds_state) return OkStatus();
  RETURN_IF_ERROR(world.faults.Hit(Point::kStateReceive, here));
  Status restored = RestoreFrom(bytes, world.faults, resident);
  if (restored.ok()) {
    const HeldState found = {.step = state.position.step,
                             .phase = state.position.phase_of(),
                             .digest = state.ComputeDigest()};
    if (found != decided) {
      restored = DataLoss(
          fmt::format("expected step {} with digest {}, found step {} with {}",
                      decided.step, decided.digest.ToString(), found.step,
                      found.digest.ToString()));
    }
  }
  if (restored.ok()) return restored;
  return DataLoss(fmt::format("the state that rank {} sent: {}",
                              transfer.memory.holder, restored.message()));
}

}  // namespace gauntlet
