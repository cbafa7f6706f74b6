#include "chaos/inject/link_troubles.h"

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

void LinkTroubles::Begin(const Fault& fault, Time now) {
  CHECK(IsNetworkFault(fault.kind) &&
            fault.kind != FaultKind::kConnectionReset &&
            fault.with.groups.empty(),
        fmt::format("{}: no trouble of one process's network", fault.id));
  const Time until = EndOf(fault, now);
  if (fault.kind == FaultKind::kPartition) {
    cuts_.push_back({.out = true, .in = true, .until = until});
    return;
  }
  if (fault.kind == FaultKind::kAsymmetricPartition) {
    const bool out = fault.with.way == LinkWay::kOut;
    cuts_.push_back({.out = out, .in = !out, .until = until});
    return;
  }
  const auto trouble = [&](LinkWay way) {
    return FrameTrouble(fault,
                        RandomStream(seed_, TroubleStream(fault, way, "here")),
                        [this, id = fault.id](Duration late) {
                          if (on_late_) on_late_(id, late);
                        });
  };
  of_frames_.push_back({.out = trouble(LinkWay::kOut),
                        .in = trouble(LinkWay::kIn),
                        .until = until});
}

Time LinkTroubles::CutUntil(LinkWay way) const {
  Time until{};
  for (const Cut& cut : cuts_) {
    if (way == LinkWay::kOut ? cut.out : cut.in) {
      until = std::max(until, cut.until);
    }
  }
  return until;
}

Duration LinkTroubles::DrawLateness(LinkWay way, Time now) {
  std::erase_if(of_frames_,
                [now](const OfFrames& one) { return one.until <= now; });
  Duration late{0};
  for (OfFrames& one : of_frames_) {
    late += way == LinkWay::kOut ? one.out.Draw() : one.in.Draw();
  }
  return late;
}

bool LinkTroubles::Doubles(Time now) const {
  return std::ranges::any_of(of_frames_, [now](const OfFrames& one) {
    return one.until > now && one.out.doubles();
  });
}

bool LinkTroubles::Any(LinkWay way, Time now) const {
  return CutUntil(way) > now ||
         std::ranges::any_of(of_frames_, [now](const OfFrames& one) {
           return one.until > now;
         });
}

}  // namespace gauntlet
