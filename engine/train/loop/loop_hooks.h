// Hooks that a program adds to the training loop. Every worker calls them at
// the same boundaries, with the state of the run. If a hook may change the
// state (its parameter is not const), the state has the newest values, and
// training continues with the changed values, even on a device.
//
// Values that a hook keeps from one call to the next affect the rest of the
// run. So they are part of the state (TrainState::hook_state), of every
// checkpoint and of every digest, and are restored with the state. If steps are
// recomputed after a restart, hooks are called again for their boundaries.
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

// Request of a hook to the training loop.
enum class LoopVote : uint8_t { kContinue, kFinish };

// If a hook returns an error, the run ends on this worker, and the other
// workers detect the loss. A hook that changes the state must make the same
// change on every worker.
class LoopHooks {
 public:
  virtual ~LoopHooks() = default;

  // Returns the hooks' parts of hook_state, in their order there.
  virtual std::vector<HookState> states(const ModelExtent&) const { return {}; }
  virtual Status TrainBegin(TrainState& /*state*/) { return OkStatus(); }
  virtual Status EpochBegin(TrainState& /*state*/) { return OkStatus(); }
  // Called after the update, before the digest of the step is computed.
  virtual Status StepEnd(TrainState& /*state*/, const StepOutcome&) {
    return OkStatus();
  }
  // StepSettled and EpochSettled are called at the end of each step or epoch.
  // If a save is due there, they are called after that save.
  virtual Status StepSettled(const TrainState& /*state*/) { return OkStatus(); }
  // Called after the metrics of the epoch were added to the history.
  virtual Status EpochEnd(TrainState& /*state*/) { return OkStatus(); }
  virtual Status EpochSettled(const TrainState& /*state*/) {
    return OkStatus();
  }
  // Called at the horizon, or once a hook has requested the end.
  virtual Status TrainEnd(const TrainState& /*state*/) { return OkStatus(); }
  // Called after TrainBegin and after each epoch. If one worker requests the
  // end, all workers finish.
  virtual LoopVote Vote() const { return LoopVote::kContinue; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_HOOKS_H_
