// A clock with a wall-clock time that faults can change.
#ifndef GAUNTLET_CHAOS_INJECT_FAULTY_CLOCK_H_
#define GAUNTLET_CHAOS_INJECT_FAULTY_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "engine/world/clock.h"

namespace gauntlet {

// Any task may call it, because any task may call the clock `base`.
class FaultyClock final : public Clock {
 public:
  explicit FaultyClock(Clock& base) : base_(base) {}

  Time Now() const override { return base_.Now(); }
  int64_t UnixSeconds() const override {
    return base_.UnixSeconds() + offset_seconds_.load();
  }
  void SleepUntil(Time deadline) override { base_.SleepUntil(deadline); }

  void Jump(Duration by) {
    offset_seconds_ +=
        std::chrono::duration_cast<std::chrono::seconds>(by).count();
  }

 private:
  Clock& base_;
  std::atomic<int64_t> offset_seconds_ = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FAULTY_CLOCK_H_
