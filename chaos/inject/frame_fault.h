// Late and doubled frames: the part of a network fault that both worlds share.
#ifndef GAUNTLET_CHAOS_INJECT_FRAME_FAULT_H_
#define GAUNTLET_CHAOS_INJECT_FRAME_FAULT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "chaos/inject/plan/plan.h"
#include "chaos/sim/scheduler/random_stream.h"

namespace gauntlet {

// A delay, packet loss or duplication in one direction of a worker's
// connections. Each fault draws from its own random stream, so removing one
// fault does not change another.
class FrameFault {
 public:
  // Called for each frame that is late by 50 ms or more.
  using OnLate = std::function<void(Duration)>;

  // REQUIRES: the fault is a delay, packet_loss or duplicate. `on_late` may be
  // null.
  FrameFault(const Fault& fault, RandomStream chance, OnLate on_late = nullptr);

  // Returns how much later the next frame arrives.
  Duration Draw();
  // Returns true if each frame arrives twice.
  bool doubles() const { return doubles_; }

 private:
  Duration latency_{0};
  Duration jitter_{0};
  uint64_t percent_ = 0;
  bool doubles_ = false;
  OnLate on_late_;
  RandomStream chance_;
};

// Returns the name of the random stream for one direction of a worker's
// connections. `place`: the worker's host in the simulation, "here" in a real
// process.
std::string FrameFaultStream(const Fault& fault, LinkDirection direction,
                             std::string_view place);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_INJECT_FRAME_FAULT_H_
