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

// Calls `attempt`, which returns a Status or a Result. Repeats the call, after
// a pause, while `is_transient` is true for the returned code, up to
// kDiskAttempts calls in total. Returns the last result.
template <typename IsTransient, typename Attempt>
auto RetryWhile(World& world, const IsTransient& is_transient,
                const Attempt& attempt) {
  auto result = attempt();
  for (int tries = 1;
       tries < kDiskAttempts && is_transient(StatusOf(result).code());
       ++tries) {
    world.clock.SleepUntil(world.clock.Now() + tries * kDiskRetryPause);
    result = attempt();
  }
  return result;
}

// As RetryWhile, for the codes that a disk can return: kIoError,
// kResourceExhausted and kForbidden.
template <typename Attempt>
auto RetryOnDiskError(World& world, const Attempt& attempt) {
  const auto is_disk_error = [](Code code) {
    return code == Code::kIoError || code == Code::kResourceExhausted ||
           code == Code::kForbidden;
  };
  return RetryWhile(world, is_disk_error, attempt);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_RETRYING_H_
