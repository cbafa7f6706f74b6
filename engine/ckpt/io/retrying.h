// Retries disk operations, as their errors may be transient.
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

// Calls `attempt`, which returns a Status or a Result, again while `may_pass`
// is true for the code that it returned, at most kDiskAttempts times in total.
// Returns the last result.
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

// As RetryingWhile, for the codes that a disk can return: kIoError,
// kResourceExhausted and kForbidden.
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
