// Tests whether a run's numbers are finite: neither infinite nor NaN.
//
// A loss that is not finite comes from the forward pass. Parameters, slots or
// waiting gradients that are not finite come from an update; they show in the
// loss of a later step, or never (an infinite second moment of Adam's). The
// loss is tested after each step. The state is scanned where its bytes are
// touched anyway: in a save, at the end, and at the start of a run that is to
// stop then.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_

#include <string>
#include <string_view>

#include "engine/train/state/train_state.h"

namespace gauntlet {

// True iff the sum of losses of the epoch under way is finite; between two
// epochs, the mean loss of the one that has ended.
bool LossIsFinite(const TrainState& state);

// True for parameters, optimizer slots and pending gradients; false for
// metrics, the history and the state of callbacks.
bool IsLearned(std::string_view tensor);

// The first of those tensors that has a value that is not finite; empty: none
// has. REQUIRES: the state is settled.
std::string FindNotFinite(const TrainState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_
