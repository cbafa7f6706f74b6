#include "chaos/inject/frame_fault.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Linux sends a lost segment again after at least 200 ms, at most 15 times
// (tcp_retries2), and doubles the time after each try.
constexpr Duration kFirstRetransmission = std::chrono::milliseconds(200);
constexpr int kMaxRetransmissions = 15;
constexpr Duration kReportedLateness = std::chrono::milliseconds(50);

}  // namespace

std::string FrameFaultStream(const Fault& fault, LinkDirection direction,
                             std::string_view place) {
  return fmt::format("fault:{}:{}:{}", fault.id, place,
                     direction == LinkDirection::kOut ? "out" : "in");
}

FrameFault::FrameFault(const Fault& fault, RandomStream chance, OnLate on_late)
    : on_late_(std::move(on_late)), chance_(chance) {
  switch (fault.kind) {
    case FaultKind::kDelay:
      latency_ = fault.with.latency;
      jitter_ = fault.with.jitter;
      return;
    case FaultKind::kPacketLoss:
      percent_ = static_cast<uint64_t>(fault.with.percent);
      return;
    case FaultKind::kDuplicate:
      doubles_ = true;
      return;
    default:
      CHECK(false, fmt::format("{}: changes no single frame", fault.id));
  }
}

Duration FrameFault::Draw() {
  Duration later = latency_;
  if (jitter_ > Duration::zero()) {
    later += Duration(static_cast<int64_t>(
        chance_.Between(0, static_cast<uint64_t>(jitter_.count()))));
  }
  Duration pause = kFirstRetransmission;
  for (int i = 0; i < kMaxRetransmissions; ++i, pause *= 2) {
    if (percent_ == 0 || chance_.Below(100) >= percent_) break;
    later += pause;
  }
  if (on_late_ && later >= kReportedLateness) on_late_(later);
  return later;
}

}  // namespace gauntlet
