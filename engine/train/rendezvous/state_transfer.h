// Transfer of a state, around the ring, from the workers that hold it to those
// that need it.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_

#include "engine/cluster/ring/ring.h"
#include "engine/status.h"
#include "engine/train/rendezvous/held_state.h"
#include "engine/train/state/resident_state.h"

namespace gauntlet {

struct StateTransfer {
  const StartDecision::Memory& memory;
  // This rank has no earlier state to protect: the received bytes are written
  // directly into its arrays.
  bool is_new = false;
  Duration timeout;
};

// Called by every rank. Each receiver takes the state from the rank before it
// in the ring, which holds it or receives it too, and restores it. On success
// the resident state is the decided one. (A receiver has compared its digest.)
// kDataLoss: the received bytes are another state, or a frame is malformed; the
// resident state must not be used. Other errors, usually of the ring, leave the
// resident state unchanged, except a new one, which must not be used after any
// error. REQUIRES: the host has the newest values; the state of each rank that
// receives none is the decided one.
Status TransferState(World& world, Ring& ring, const StateTransfer& transfer,
                     ResidentState& resident);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
