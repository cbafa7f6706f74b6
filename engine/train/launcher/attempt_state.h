// States of an attempt, and the transitions between them.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_STATE_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_STATE_H_

#include <cstdint>

namespace gauntlet {

// A preemption notice changes no state: the save that follows needs all
// workers, so a lost worker is still restarted.
enum class AttemptState : uint8_t {
  kStarting,  // its workers are being started
  kRunning,   // with RestartPolicy::kRejoin, lost workers are restarted
  kEnding,    // no further worker is started; some may still run
  kEnded,     // no worker runs
};

// Returns true iff the transition is permitted:
//
//   from      | to       | when
//   ----------|----------|------------------------------------------------
//   kStarting | kRunning | all workers were started
//   kStarting | kEnding  | a worker could not be started
//   kRunning  | kEnding  | a result, a worker that is done, a loss after
//             |          | which no worker rejoins, a restart that failed,
//             |          | a hang, the end of a grace period, an interrupt
//   kRunning  | kEnded   | all workers died while each could be restarted
//   kEnding   | kEnded   | the last worker has exited
constexpr bool MayFollow(AttemptState from, AttemptState to) {
  switch (from) {
    case AttemptState::kStarting:
      return to == AttemptState::kRunning || to == AttemptState::kEnding;
    case AttemptState::kRunning:
      return to == AttemptState::kEnding || to == AttemptState::kEnded;
    case AttemptState::kEnding:
      return to == AttemptState::kEnded;
    case AttemptState::kEnded:
      return false;
  }
  return false;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_STATE_H_
