// States that workers hold in memory at a rendezvous, and the choice of the
// state from which the generation resumes.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_HELD_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_HELD_STATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/event_log.h"

namespace gauntlet {

// Identity of a state: its position and digest.
struct HeldState {
  uint64_t step = 0;
  Phase phase = Phase::kInEpoch;
  Digest digest;

  bool operator==(const HeldState&) const = default;
};

// Returns true if training reaches `a` before `b`. Between two states of the
// same step, the phase decides: evaluation due, callbacks due, next epoch.
bool IsBefore(const HeldState& a, const HeldState& b);
bool IsSamePosition(const HeldState& a, const HeldState& b);

// Encode and decode the state that a worker offers to the chief; "" for
// nullopt. DecodeHeld returns kDataLoss if `bytes` are malformed.
std::string EncodeHeld(const std::optional<HeldState>& held);
Result<std::optional<HeldState>> DecodeHeld(std::string_view bytes);

// State from which all ranks of a generation resume: a checkpoint, or the state
// that a rank holds in memory. Neither is set: a cold start.
struct StartDecision {
  std::optional<CheckpointRef> checkpoint;
  struct Memory {
    HeldState state;
    int holder = 0;              // the lowest rank that holds it, for errors
    std::vector<int> receivers;  // ranks that do not hold it, ascending
    // No checkpoint is valid: training begins with a save of this state.
    bool is_only_copy = false;
  };
  std::optional<Memory> from_memory;
};

// Chooses the most advanced among the states that ranks hold and the claimed
// parent. If a rank's state is as advanced as the parent, the rank's state is
// chosen. `parent_state` identifies the state of `parent`.
StartDecision DecideStart(std::span<const std::optional<HeldState>> held,
                          const std::optional<CheckpointRef>& parent,
                          const std::optional<HeldState>& parent_state);

// Returns true iff the rank must receive the state.
bool Receives(const StartDecision::Memory& memory, int rank);
// Returns the nearest rank before `rank`, in a ring of `size` ranks, that is
// not a receiver. Its state reaches `rank`, a receiver.
int SenderTo(const StartDecision::Memory& memory, int rank, int size);

// Encodes a decision for the other ranks. Omits `checkpoint` if `from_memory`
// is set.
std::string EncodeStart(const StartDecision& start);
// Returns kDataLoss if `bytes` are malformed. Checks the name of the
// checkpoint, but not that `holder` is one of the ranks.
Result<StartDecision> DecodeStart(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_HELD_STATE_H_
