// Hooks that a program adds to the training loop: called on every worker at the
// same boundaries, with the state of the run.
//
// Data that a hook keeps from one call to the next are part of the run's
// future. So they are in the state (TrainState::hook_state), in every
// checkpoint and under every digest, and a restore brings them back. A hook may
// be called again for a boundary that a restart recomputes.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_HOOKS_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_HOOKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

struct StepOutcome;

// Request of a hook for the loop's next action.
enum class LoopWish : uint8_t { kGoOn, kFinish };

// An error ends the run on this worker: the others notice that it is gone. A
// hook that may change a state has to change it alike on every worker.
class LoopHooks {
 public:
  virtual ~LoopHooks() = default;

  // Places of the hooks' own numbers in hook_state, in this order.
  virtual std::vector<HookState> states(const ModelExtent&) const { return {}; }
  virtual Status TrainBegin(TrainState& /*state*/) { return OkStatus(); }
  virtual Status EpochBegin(TrainState& /*state*/) { return OkStatus(); }
  // After the update, before the step's digest is taken.
  virtual Status StepEnd(TrainState& /*state*/, const StepOutcome&) {
    return OkStatus();
  }
  // After the save that was due after the step, if one was.
  virtual Status StepSettled(const TrainState& /*state*/) { return OkStatus(); }
  // The epoch's metrics are the last of the history.
  virtual Status EpochEnd(TrainState& /*state*/) { return OkStatus(); }
  virtual Status EpochSettled(const TrainState& /*state*/) {
    return OkStatus();
  }
  // At the horizon, or where the hooks wished to finish.
  virtual Status TrainEnd(const TrainState& /*state*/) { return OkStatus(); }
  // Asked after TrainBegin and after each epoch; one worker's wish is all
  // workers' wish.
  virtual LoopWish Wish() const { return LoopWish::kGoOn; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_HOOKS_H_
