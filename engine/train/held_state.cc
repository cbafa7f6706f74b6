#include "engine/train/held_state.h"

#include <tuple>
#include <vector>

#include "engine/ckpt/store_names.h"
#include "engine/ckpt/text_record.h"
#include "engine/cluster/frame_format.h"

namespace gauntlet {
namespace {

constexpr size_t kHeldFields = 3;
constexpr size_t kCheckpointFields = 3;
constexpr size_t kMemoryFields = kHeldFields + 3;

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

auto MomentOf(const HeldState& state) {
  return std::tuple(state.step, OrderOf(state.phase));
}

std::vector<std::string> FieldsOf(const HeldState& state) {
  return {std::to_string(state.step), std::string(PhaseName(state.phase)),
          state.digest.ToString()};
}

// Of the first three fields.
std::optional<HeldState> HeldOf(std::span<const std::string_view> fields) {
  const std::optional<uint64_t> step = ParseNumber<uint64_t>(fields[0]);
  const std::optional<Phase> phase = FindPhase(fields[1]);
  const std::optional<Digest> digest = Digest::Parse(fields[2]);
  if (!step || !phase || !digest) return std::nullopt;
  return HeldState{.step = *step, .phase = *phase, .digest = *digest};
}

// Of three fields.
std::optional<CheckpointRef> CheckpointOf(
    std::span<const std::string_view> fields) {
  const std::optional<uint64_t> step = ParseNumber<uint64_t>(fields[1]);
  const std::optional<uint64_t> generation = ParseNumber<uint64_t>(fields[2]);
  // A name from the network becomes a path.
  if (!step || !generation || !CheckpointName::Parse(fields[0])) {
    return std::nullopt;
  }
  return CheckpointRef{
      .name = std::string(fields[0]), .step = *step, .generation = *generation};
}

std::optional<StartDecision::Memory> MemoryOf(
    std::span<const std::string_view> fields) {
  const std::optional<HeldState> state = HeldOf(fields);
  const std::optional<uint64_t> holder =
      ParseNumber<uint64_t>(fields[kHeldFields]);
  const std::optional<uint64_t> needed =
      ParseNumber<uint64_t>(fields[kHeldFields + 1]);
  const std::optional<uint64_t> all =
      ParseNumber<uint64_t>(fields[kHeldFields + 2]);
  if (!state || !holder || *holder > INT32_MAX || !needed || *needed > 1 ||
      !all || *all > 1) {
    return std::nullopt;
  }
  return StartDecision::Memory{.state = *state,
                               .holder = static_cast<int>(*holder),
                               .is_needed = *needed == 1,
                               .is_all_there_is = *all == 1};
}

}  // namespace

bool IsBefore(const HeldState& a, const HeldState& b) {
  return MomentOf(a) < MomentOf(b);
}

bool IsSameMoment(const HeldState& a, const HeldState& b) {
  return MomentOf(a) == MomentOf(b);
}

std::string EncodeHeld(const std::optional<HeldState>& held) {
  return held ? EncodeList(FieldsOf(*held)) : "";
}

Result<std::optional<HeldState>> DecodeHeld(std::string_view bytes) {
  if (bytes.empty()) return std::optional<HeldState>();
  ASSIGN_OR_RETURN(const std::vector<std::string_view> fields, ViewList(bytes));
  if (fields.size() == kHeldFields) {
    if (const auto held = HeldOf(fields)) return held;
  }
  return DataLoss("a worker's word on its state is malformed");
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
    start.from_memory = {.state = *state, .holder = static_cast<int>(rank)};
  }
  if (!start.from_memory) return start;
  start.checkpoint.reset();
  for (const std::optional<HeldState>& state : held) {
    if (state != start.from_memory->state) start.from_memory->is_needed = true;
  }
  return start;
}

std::string EncodeStart(const StartDecision& start) {
  if (start.from_memory) {
    std::vector<std::string> fields = FieldsOf(start.from_memory->state);
    fields.push_back(std::to_string(start.from_memory->holder));
    fields.emplace_back(start.from_memory->is_needed ? "1" : "0");
    fields.emplace_back(start.from_memory->is_all_there_is ? "1" : "0");
    return EncodeList(fields);
  }
  if (!start.checkpoint) return "";
  const CheckpointRef& checkpoint = *start.checkpoint;
  return EncodeList({checkpoint.name, std::to_string(checkpoint.step),
                     std::to_string(checkpoint.generation)});
}

Result<StartDecision> DecodeStart(std::string_view bytes) {
  StartDecision start;
  if (bytes.empty()) return start;
  ASSIGN_OR_RETURN(const std::vector<std::string_view> fields, ViewList(bytes));
  if (fields.size() == kCheckpointFields) {
    start.checkpoint = CheckpointOf(fields);
  } else if (fields.size() == kMemoryFields) {
    start.from_memory = MemoryOf(fields);
  }
  if (start.checkpoint || start.from_memory) return start;
  return DataLoss("the chief's decision is malformed");
}

}  // namespace gauntlet
