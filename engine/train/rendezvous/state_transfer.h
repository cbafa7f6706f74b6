// A worker's state on its way round the ring to those that need it.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_

#include "engine/cluster/ring/ring.h"
#include "engine/status.h"
#include "engine/train/rendezvous/held_state.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

// Contribution of one rank to the transfer.
struct StateShare {
  const StartDecision::Memory& memory;
  bool holds_it = false;
  Duration timeout;
};
// Every rank takes part: the holder sends, others pass on, and those that do
// not hold the state restore it. `state` is then the one decided, by its
// digest.
// REQUIRES: on the holder it is already. kDataLoss: the bytes received are not
// that state; `state` is then unusable. Other errors are the ring's, and leave
// `state` as it was.
Status ShareState(World& world, Ring& ring, const StateShare& share,
                  TrainState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_STATE_TRANSFER_H_
