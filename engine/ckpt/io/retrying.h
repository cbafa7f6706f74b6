// A disk that fails once may not fail again.
#ifndef GAUNTLET_ENGINE_CKPT_IO_RETRYING_H_
#define GAUNTLET_ENGINE_CKPT_IO_RETRYING_H_

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

// Makes the attempt again while `may_pass` is true of its code, kDiskAttempts
// times in all at most. Returns the result of the last one. `attempt` returns a
// Status or a Result.
template <typename MayPass, typename Attempt>
auto RetryingWhile(World& world, const MayPass& may_pass,
                   const Attempt& attempt) {
  auto result = attempt();
  for (int tries = 1;
       tries < kDiskAttempts && may_pass(StatusOf(result).code()); ++tries) {
    world.clock.SleepUntil(world.clock.Now() + tries * kDiskRetryPause);
    result = attempt();
  }
  return result;
}

// The same for errors of a disk: kIoError, kResourceExhausted and kForbidden.
template <typename Attempt>
auto Retrying(World& world, const Attempt& attempt) {
  const auto is_of_disk = [](Code code) {
    return code == Code::kIoError || code == Code::kResourceExhausted ||
           code == Code::kForbidden;
  };
  return RetryingWhile(world, is_of_disk, attempt);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_RETRYING_H_
