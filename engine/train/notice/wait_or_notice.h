// A pause that a preemption notice ends.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_

#include <algorithm>

#include "engine/world/world.h"

namespace gauntlet {

// Longest delay until a waiting program detects a notice.
inline constexpr Duration kNoticePollInterval = std::chrono::milliseconds(50);

inline bool HasNotice(const World& world) {
  return world.host.TerminationNotices() > 0;
}

// Waits until the given time or a notice. Returns HasNotice.
inline bool WaitOrNotice(World& world, Time until) {
  while (!HasNotice(world)) {
    const Time now = world.clock.Now();
    if (now >= until) return false;
    world.clock.SleepUntil(std::min(until, now + kNoticePollInterval));
  }
  return true;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_
