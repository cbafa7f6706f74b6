// A pause of a program that may be told to go meanwhile.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_

#include <algorithm>

#include "engine/world/world.h"

namespace gauntlet {

// How late a notice may be seen by who waits.
inline constexpr Duration kLookForNoticeEvery = std::chrono::milliseconds(50);

inline bool ToldToGo(const World& world) {
  return world.host.TerminationNotices() > 0;
}

// Until the time has come or a notice has. Returns ToldToGo.
inline bool WaitOrNotice(World& world, Time until) {
  while (!ToldToGo(world)) {
    const Time now = world.clock.Now();
    if (now >= until) return false;
    world.clock.SleepUntil(std::min(until, now + kLookForNoticeEvery));
  }
  return true;
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_WAIT_OR_NOTICE_H_
