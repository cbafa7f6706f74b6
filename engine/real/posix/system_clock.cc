#include "engine/real/posix/system_clock.h"

#include <chrono>
#include <thread>

namespace gauntlet {

Time SystemClock::Now() const {
  return Time(std::chrono::steady_clock::now().time_since_epoch());
}

int64_t SystemClock::UnixSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void SystemClock::SleepUntil(Time deadline) {
  std::this_thread::sleep_until(
      std::chrono::steady_clock::time_point(deadline.time_since_epoch()));
}

}  // namespace gauntlet
