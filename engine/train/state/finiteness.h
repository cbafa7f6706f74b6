// Tests whether the numbers of a run are finite: neither infinite nor NaN.
//
// A non-finite loss comes from the forward pass. Parameters, slots or pending
// gradients that are not finite come from an update; they affect the loss of a
// later step, or no loss at all (an infinite second moment of Adam). The loss
// is tested after each step. The state is scanned when its bytes are read
// anyway: in a save, at the end, and at the start of a run with
// OnNotFinite::kStop.
#ifndef GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_
#define GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_

#include <string>
#include <string_view>

#include "engine/train/state/train_state.h"

namespace gauntlet {

// Within an epoch, returns true iff the epoch's sum of losses so far is finite.
// Between two epochs, returns true iff the mean loss of the last epoch is
// finite.
bool LossIsFinite(const TrainState& state);

// Returns true for parameters, the optimizer's state, pending gradients and the
// replicas' own states; false for metrics, the history and the state of
// callbacks.
bool IsLearned(std::string_view tensor);

// Returns the name of the first learned tensor with a value that is not finite;
// empty if all values are finite.
std::string FindNotFinite(const TrainState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_STATE_FINITENESS_H_
