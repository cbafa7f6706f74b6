// Transfer of a state around the ring, from the worker that holds it to those
// that need it.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_

#include <cstdint>

#include "engine/cluster/ring/ring.h"
#include "engine/status.h"
#include "engine/train/rendezvous/held_state.h"
#include "engine/train/state/resident_state.h"

namespace gauntlet {

// The state that a rank holds in memory before the transfer.
enum class HeldByRank : uint8_t {
  kNone,     // a new state, which no other rank needs
  kOther,    // not the decided state, but one that may be needed later
  kDecided,  // the decided state
};

// Role of one rank in the transfer.
struct StateTransfer {
  const StartDecision::Memory& memory;
  HeldByRank held = HeldByRank::kNone;
  Duration timeout;
};

// Called by every rank: the holder sends, the others forward, and those without
// the state restore it. On success the resident state is the decided one. (Its
// digest was compared.) kDataLoss: the received bytes are another state, or a
// frame is malformed; the resident state must not be used. Other errors,
// usually of the ring, leave the resident state unchanged, except a new one
// (HeldByRank::kNone): its arrays receive the bytes directly, so it must not be
// used after any error. REQUIRES: the host has the newest values; the holder's
// state is the decided one.
Status TransferState(World& world, Ring& ring, const StateTransfer& transfer,
                     ResidentState& resident);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
