// A disk that fails once may not fail again.
#ifndef GAUNTLET_ENGINE_CKPT_RETRYING_H_
#define GAUNTLET_ENGINE_CKPT_RETRYING_H_

#include <chrono>

#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

inline constexpr int kDiskAttempts = 3;
inline constexpr Duration kDiskRetryPause = std::chrono::milliseconds(10);

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

// Makes the attempt until it gives none of kIoError, kResourceExhausted and
// kForbidden, kDiskAttempts times at most. Returns what the last one gave.
// `attempt` returns a Status or a Result.
template <typename Attempt>
auto Retrying(World& world, const Attempt& attempt) {
  auto result = attempt();
  for (int tries = 1; tries < kDiskAttempts; ++tries) {
    const Code code = StatusOf(result).code();
    if (code != Code::kIoError && code != Code::kResourceExhausted &&
        code != Code::kForbidden) {
      break;
    }
    world.clock.SleepUntil(world.clock.Now() + tries * kDiskRetryPause);
    result = attempt();
  }
  return result;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_RETRYING_H_
