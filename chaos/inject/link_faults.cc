#include "chaos/inject/link_faults.h"

#include <algorithm>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Time EndOf(const Fault& fault, Time begin) {
  return fault.with.duration == Duration::zero() ? kNever
                                                 : begin + fault.with.duration;
}

}  // namespace

void LinkFaults::Begin(const Fault& fault, Time now) {
  CHECK(IsNetworkFault(fault.kind) &&
            fault.kind != FaultKind::kConnectionReset &&
            fault.with.groups.empty(),
        fmt::format("{}: not a lasting fault of one process's network",
                    fault.id));
  const Time until = EndOf(fault, now);
  if (fault.kind == FaultKind::kPartition) {
    cuts_.push_back({.out = true, .in = true, .until = until});
    return;
  }
  if (fault.kind == FaultKind::kAsymmetricPartition) {
    const bool out = fault.with.link_direction == LinkDirection::kOut;
    cuts_.push_back({.out = out, .in = !out, .until = until});
    return;
  }
  const auto frame_fault = [&](LinkDirection direction) {
    return FrameFault(
        fault, RandomStream(seed_, FrameFaultStream(fault, direction, "here")),
        [this, id = fault.id](Duration late) {
          if (on_late_) on_late_(id, late);
        });
  };
  of_frames_.push_back({.out = frame_fault(LinkDirection::kOut),
                        .in = frame_fault(LinkDirection::kIn),
                        .until = until});
}

Time LinkFaults::CutUntil(LinkDirection direction) const {
  Time until{};
  for (const Cut& cut : cuts_) {
    if (direction == LinkDirection::kOut ? cut.out : cut.in) {
      until = std::max(until, cut.until);
    }
  }
  return until;
}

Duration LinkFaults::DrawLateness(LinkDirection direction, Time now) {
  std::erase_if(of_frames_,
                [now](const OfFrames& one) { return one.until <= now; });
  Duration late{0};
  for (OfFrames& one : of_frames_) {
    late += direction == LinkDirection::kOut ? one.out.Draw() : one.in.Draw();
  }
  return late;
}

bool LinkFaults::Doubles(Time now) const {
  return std::ranges::any_of(of_frames_, [now](const OfFrames& one) {
    return one.until > now && one.out.doubles();
  });
}

bool LinkFaults::Any(LinkDirection direction, Time now) const {
  return CutUntil(direction) > now ||
         std::ranges::any_of(of_frames_, [now](const OfFrames& one) {
           return one.until > now;
         });
}

}  // namespace gauntlet
