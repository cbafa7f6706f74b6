// The network faults that affect one process's connections: cuts, and late and
// doubled frames. Plain data; the caller passes the time.
#ifndef GAUNTLET_CHAOS_INJECT_LINK_FAULTS_H_
#define GAUNTLET_CHAOS_INJECT_LINK_FAULTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/inject/frame_fault.h"
#include "chaos/inject/plan/plan.h"
#include "engine/world/clock.h"

namespace gauntlet {

class LinkFaults {
 public:
  // Called for each frame that is late by 50 ms or more, with the fault that
  // delays it.
  using OnLate = std::function<void(const std::string& fault, Duration late)>;

  // `seed` is the plan's; `on_late` may be null.
  explicit LinkFaults(uint64_t seed, OnLate on_late = nullptr)
      : seed_(seed), on_late_(std::move(on_late)) {}

  // REQUIRES: IsNetworkFault(fault.kind), the kind has a duration, and the
  // fault names no groups.
  void Begin(const Fault& fault, Time now);

  // Returns the time at which the last cut in that direction ends. If no cut is
  // in progress, this time is in the past.
  Time CutUntil(LinkDirection direction) const;
  // Draws the delay of a frame that is sent or received now.
  Duration DrawLateness(LinkDirection direction, Time now);
  // Returns true if a frame that is sent or received now is delivered twice.
  bool Doubles(Time now) const;
  // Returns true iff a frame in that direction may be delayed or duplicated.
  bool Any(LinkDirection direction, Time now) const;

 private:
  struct Cut {
    bool out;
    bool in;
    Time until;
  };
  // Faults of single frames, in both directions.
  struct OfFrames {
    FrameFault out;
    FrameFault in;
    Time until;
  };

  const uint64_t seed_;
  const OnLate on_late_;
  std::vector<Cut> cuts_;
  std::vector<OfFrames> of_frames_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_LINK_FAULTS_H_
