// A clock that only a test advances.
#ifndef GAUNTLET_TESTS_ENGINE_CLI_TERMINAL_SET_CLOCK_H_
#define GAUNTLET_TESTS_ENGINE_CLI_TERMINAL_SET_CLOCK_H_

#include "engine/world/clock.h"

namespace gauntlet {

class SetClock final : public Clock {
 public:
  Time Now() const override { return now; }
  int64_t UnixSeconds() const override { return 0; }
  void SleepUntil(Time deadline) override { now = deadline; }

  Time now{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLI_TERMINAL_SET_CLOCK_H_
