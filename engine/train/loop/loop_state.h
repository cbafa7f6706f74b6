// States of a training loop, and the transitions between them.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_STATE_H_

#include <cstdint>

namespace gauntlet {

// In kFinishing, kStopping and kNotFinite, the loop ends with
// LoopEnd::kFinished, kStopped and kNotFinite, respectively. An error ends the
// run in any state, without a transition.
enum class LoopState : uint8_t {
  kNew,        // before the run
  kTraining,   // operations follow
  kFinishing,  // the end of training: only the last save follows
  kStopping,   // only the save before the stop follows, if any
  kNotFinite,  // a loss or state that is not finite stops the run
};

// Returns true iff the transition is permitted:
//
//   from       | to         | when
//   -----------|------------|---------------------------------------------
//   kNew       | kTraining  | the run begins
//   kTraining  | kFinishing | at the horizon, or at the request of a hook
//   kTraining  | kStopping  | the workers agreed on a stop
//   kTraining  | kNotFinite | the initial state, a loss or a saved state
//              |            | is not finite
//   kFinishing | kNotFinite | a saved state is not finite
//   kStopping  | kNotFinite | a saved state is not finite
constexpr bool MayFollow(LoopState from, LoopState to) {
  switch (from) {
    case LoopState::kNew:
      return to == LoopState::kTraining;
    case LoopState::kTraining:
      return to == LoopState::kFinishing || to == LoopState::kStopping ||
             to == LoopState::kNotFinite;
    case LoopState::kFinishing:
    case LoopState::kStopping:
      return to == LoopState::kNotFinite;
    case LoopState::kNotFinite:
      return false;
  }
  return false;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_STATE_H_
