// The clocks of this machine.
#ifndef GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_CLOCK_H_
#define GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_CLOCK_H_

#include "engine/world/clock.h"

namespace gauntlet {

// Now is std::chrono::steady_clock (CLOCK_MONOTONIC), so times of all processes
// since one boot are comparable.
class SystemClock final : public Clock {
 public:
  Time Now() const override;
  int64_t UnixSeconds() const override;
  void SleepUntil(Time deadline) override;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_POSIX_SYSTEM_CLOCK_H_
