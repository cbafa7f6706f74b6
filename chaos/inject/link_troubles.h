// The network faults that affect one process's connections: cuts, and late and
// doubled frames. Plain data; the caller passes the time.
#ifndef GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_
#define GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/frame_trouble.h"
#include "chaos/inject/plan/plan.h"
#include "engine/world/clock.h"

namespace gauntlet {

class LinkTroubles {
 public:
  // Called for each frame that is late by 50 ms or more, with the fault that
  // delays it.
  using OnLate = std::function<void(const std::string& fault, Duration late)>;

  // `seed` is the plan's; `on_late` may be null.
  explicit LinkTroubles(uint64_t seed, OnLate on_late = nullptr)
      : seed_(seed), on_late_(std::move(on_late)) {}

  // REQUIRES: IsNetworkFault(fault.kind), it lasts, and it names no groups.
  void Begin(const Fault& fault, Time now);

  // Returns the time at which the last cut in that direction ends; a past time
  // if none lasts.
  Time CutUntil(LinkWay way) const;
  // Draws the lateness of a frame that is sent, or arrives, now.
  Duration DrawLateness(LinkWay way, Time now);
  // Returns true if a frame that is sent, or arrives, now comes twice.
  bool Doubles(Time now) const;
  // Returns true iff a frame in that direction may be late or come twice.
  bool Any(LinkWay way, Time now) const;

 private:
  struct Cut {
    bool out;
    bool in;
    Time until;
  };
  // Troubles of single frames, in both directions.
  struct OfFrames {
    FrameTrouble out;
    FrameTrouble in;
    Time until;
  };

  const uint64_t seed_;
  const OnLate on_late_;
  std::vector<Cut> cuts_;
  std::vector<OfFrames> of_frames_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_LINK_TROUBLES_H_
