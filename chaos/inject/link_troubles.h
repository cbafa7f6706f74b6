// The troubles that one process's connections are in: what is cut, and how late
// frames are. Plain data; the caller says what time it is.
#ifndef GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_
#define GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/frame_trouble.h"
#include "chaos/inject/plan.h"
#include "engine/world/clock.h"

namespace gauntlet {

class LinkTroubles {
 public:
  // Told of each frame that is late by 50 ms or more, and which fault makes it
  // late.
  using OnLate = std::function<void(const std::string& fault, Duration late)>;

  // `seed` is the plan's; `on_late` may be null.
  explicit LinkTroubles(uint64_t seed, OnLate on_late = nullptr)
      : seed_(seed), on_late_(std::move(on_late)) {}

  // REQUIRES: IsOfNetwork(fault.kind), it lasts, and it names no groups.
  void Begin(const Fault& fault, Time now);

  // When the last cut of that way ends; in the past: it is open.
  Time CutUntil(LinkWay way) const;
  // How much later a frame arrives that is sent, or comes, now.
  Duration DrawLateness(LinkWay way, Time now);
  // Whether any frame of that way may be late.
  bool Any(LinkWay way, Time now) const;

 private:
  struct Cut {
    bool out;
    bool in;
    Time until;
  };
  struct Lateness {
    FrameTrouble out;
    FrameTrouble in;
    Time until;
  };

  const uint64_t seed_;
  const OnLate on_late_;
  std::vector<Cut> cuts_;
  std::vector<Lateness> latenesses_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_
