#include "engine/train/rendezvous/held_state.h"

#include <algorithm>
#include <tuple>

#include "engine/ckpt/format/store_names.h"
#include "engine/cluster/link/protobuf_edge.h"
#include "engine/train/rendezvous/rendezvous.pb.h"

namespace gauntlet {
namespace {

int OrderOf(Phase phase) {
  switch (phase) {
    case Phase::kEvaluationDue:
      return 0;
    case Phase::kCallbacksDue:
      return 1;
    case Phase::kInEpoch:
      return 2;
  }
  return 2;
}

auto PositionOf(const HeldState& state) {
  return std::tuple(state.step, OrderOf(state.phase));
}

void ToWire(const HeldState& state, wire::HeldState& to) {
  to.set_step(state.step);
  to.set_phase(static_cast<uint32_t>(state.phase));
  to.set_digest_high(state.digest.high);
  to.set_digest_low(state.digest.low);
}

std::optional<HeldState> FromWire(const wire::HeldState& from) {
  if (from.phase() > static_cast<uint32_t>(Phase::kCallbacksDue)) {
    return std::nullopt;
  }
  return HeldState{
      .step = from.step(),
      .phase = static_cast<Phase>(from.phase()),
      .digest = {.high = from.digest_high(), .low = from.digest_low()}};
}

// Checks the name, which comes from the network and becomes a path.
std::optional<CheckpointRef> FromWire(const wire::CheckpointStart& from) {
  if (!CheckpointName::Parse(from.name())) return std::nullopt;
  return CheckpointRef{.name = from.name(),
                       .step = from.step(),
                       .generation = from.generation()};
}

std::optional<StartDecision::Memory> FromWire(const wire::MemoryStart& from) {
  const std::optional<HeldState> state = FromWire(from.state());
  if (!state || from.holder() > INT32_MAX) return std::nullopt;
  StartDecision::Memory memory = {.state = *state,
                                  .holder = static_cast<int>(from.holder()),
                                  .receivers = {},
                                  .is_only_copy = from.is_only_copy()};
  for (const uint32_t rank : from.receivers()) {
    if (rank > INT32_MAX) return std::nullopt;
    memory.receivers.push_back(static_cast<int>(rank));
  }
  return memory;
}

}  // namespace

bool IsBefore(const HeldState& a, const HeldState& b) {
  return PositionOf(a) < PositionOf(b);
}

bool IsSamePosition(const HeldState& a, const HeldState& b) {
  return PositionOf(a) == PositionOf(b);
}

std::string EncodeHeld(const std::optional<HeldState>& held) {
  if (!held) return "";
  wire::HeldState message;
  ToWire(*held, message);
  return message.SerializeAsString();
}

Result<std::optional<HeldState>> DecodeHeld(std::string_view bytes) {
  if (bytes.empty()) return std::optional<HeldState>();
  wire::HeldState message;
  if (ParseMessage(bytes, message)) {
    if (const auto held = FromWire(message)) return held;
  }
  return DataLoss("a worker's message about its state is malformed");
}

StartDecision DecideStart(std::span<const std::optional<HeldState>> held,
                          const std::optional<CheckpointRef>& parent,
                          const std::optional<HeldState>& parent_state) {
  StartDecision start = {.checkpoint = parent, .from_memory = {}};
  for (size_t rank = 0; rank < held.size(); ++rank) {
    const std::optional<HeldState>& state = held[rank];
    if (!state || (parent_state && IsBefore(*state, *parent_state))) continue;
    if (start.from_memory && !IsBefore(start.from_memory->state, *state)) {
      continue;
    }
    start.from_memory = {
        .state = *state, .holder = static_cast<int>(rank), .receivers = {}};
  }
  if (!start.from_memory) return start;
  start.checkpoint.reset();
  StartDecision::Memory& memory = *start.from_memory;
  for (size_t rank = 0; rank < held.size(); ++rank) {
    if (held[rank] == memory.state) continue;
    memory.receivers.push_back(static_cast<int>(rank));
  }
  return start;
}

bool Receives(const StartDecision::Memory& memory, int rank) {
  return std::ranges::find(memory.receivers, rank) != memory.receivers.end();
}

int SenderTo(const StartDecision::Memory& memory, int rank, int size) {
  int sender = rank;
  for (int hops = 0; hops < size && Receives(memory, sender); ++hops) {
    sender = (sender + size - 1) % size;
  }
  return sender;
}

std::string EncodeStart(const StartDecision& start) {
  wire::Start message;
  if (start.from_memory) {
    wire::MemoryStart& memory = *message.mutable_memory();
    ToWire(start.from_memory->state, *memory.mutable_state());
    memory.set_holder(static_cast<uint32_t>(start.from_memory->holder));
    for (const int rank : start.from_memory->receivers) {
      memory.add_receivers(static_cast<uint32_t>(rank));
    }
    memory.set_is_only_copy(start.from_memory->is_only_copy);
  } else if (start.checkpoint) {
    wire::CheckpointStart& checkpoint = *message.mutable_checkpoint();
    checkpoint.set_name(start.checkpoint->name);
    checkpoint.set_step(start.checkpoint->step);
    checkpoint.set_generation(start.checkpoint->generation);
  }
  return message.SerializeAsString();
}

Result<StartDecision> DecodeStart(std::string_view bytes) {
  wire::Start message;
  if (ParseMessage(bytes, message)) {
    StartDecision start;
    if (message.has_checkpoint())
      start.checkpoint = FromWire(message.checkpoint());
    if (message.has_memory()) start.from_memory = FromWire(message.memory());
    const bool is_cold = message.from_case() == wire::Start::FROM_NOT_SET;
    if (is_cold || start.checkpoint || start.from_memory) return start;
  }
  return DataLoss("the chief's decision is malformed");
}

}  // namespace gauntlet
