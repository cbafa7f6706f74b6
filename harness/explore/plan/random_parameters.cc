#include "harness/explore/plan/random_parameters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

// A grace period may also be shorter, down to zero: then the kill comes while
// the worker reacts to the notice.
constexpr Duration kLongGrace = std::chrono::seconds(10);

}  // namespace

FileOffset AnyOffset(RandomChoices& draw) {
  if (draw.OneIn(2)) {
    return {.value = draw.Below(101), .unit = OffsetUnit::kPercent};
  }
  return {.value = draw.LogUniform(14) - 1, .unit = OffsetUnit::kBytes};
}

void RandomParameters::Fill(Fault& fault) {
  FillByKind(fault);
  FillTimes(fault);
}

void RandomParameters::FillTear(FaultParameters& with) {
  with.blocks = static_cast<int>(1 + draw_.Below(16));
  const uint64_t all = (uint64_t{1} << with.blocks) - 1;
  with.keep = draw_.Below(all);
  constexpr std::array kThen = {AfterTear::kCrash, AfterTear::kPowerLoss,
                                AfterTear::kNothing};
  with.then = draw_.Of(kThen);
}

Duration RandomParameters::UpToPowerOfTwoMs(uint64_t bits) {
  return milliseconds(static_cast<int64_t>(draw_.LogUniform(bits)));
}

// Draws an error number. Only storage operations can report that a name exists
// or is missing. Half of the errors at loads are EIO, after which a load
// retries.
int RandomParameters::Error(Point point) {
  const StorageOperation next = InfoOf(point).next;
  if (next == StorageOperation::kRead && draw_.OneIn(2)) return EIO;
  std::vector<int> errors;
  for (const FaultErrorInfo& info : AllFaultErrors()) {
    const bool of_names =
        info.code == Code::kNotFound || info.code == Code::kAlreadyExists;
    if (of_names && next == StorageOperation::kNone) continue;
    errors.push_back(info.number);
  }
  return draw_.Of(errors);
}

// Returns two groups that together have every worker; no groups if one would be
// empty.
std::vector<std::vector<int>> RandomParameters::Groups() {
  std::vector<std::vector<int>> groups(2);
  for (int worker = 0; worker < space_.workers; ++worker) {
    groups[draw_.Below(2)].push_back(worker);
  }
  if (groups[0].empty() || groups[1].empty()) groups.clear();
  return groups;
}

void RandomParameters::FillTrouble(FaultKind kind, FaultParameters& with) {
  if (!draw_.OneIn(3)) with.duration = UpToPowerOfTwoMs(15);
  if (kind == FaultKind::kPartition && draw_.OneIn(2)) {
    with.groups = Groups();
  } else if (kind == FaultKind::kAsymmetricPartition) {
    with.way = draw_.OneIn(2) ? LinkWay::kOut : LinkWay::kIn;
  } else if (kind == FaultKind::kPacketLoss) {
    with.percent = static_cast<int>(1 + draw_.Below(90));
  } else if (kind == FaultKind::kDelay) {
    with.latency = UpToPowerOfTwoMs(12);
    if (draw_.OneIn(2)) with.jitter = UpToPowerOfTwoMs(10);
  }
}

void RandomParameters::FillByKind(Fault& fault) {
  FaultParameters& with = fault.with;
  // Exit codes that the engine itself does not use.
  constexpr std::array kExitCodes = {70, 3, 11, 101, 137, 255};
  constexpr std::array kNoticeWays = {NoticeBy::kSignal, NoticeBy::kSignal,
                                      NoticeBy::kFile, NoticeBy::kHttp};
  switch (fault.kind) {
    case FaultKind::kCrash:
      with.exit_code = draw_.Of(kExitCodes);
      break;
    case FaultKind::kKill:
      if (draw_.OneIn(2)) with.kill_latency = UpToPowerOfTwoMs(11);
      break;
    case FaultKind::kSlow:
      with.latency = UpToPowerOfTwoMs(13);
      break;
    case FaultKind::kGpuError:
      with.device_error = draw_.Of(AllDeviceErrors()).error;
      break;
    case FaultKind::kHang:
    case FaultKind::kPause:
    case FaultKind::kDeviceHang:
      if (!draw_.OneIn(3)) with.duration = UpToPowerOfTwoMs(15);
      break;
    case FaultKind::kPreempt:
      with.grace =
          draw_.OneIn(4) ? UpToPowerOfTwoMs(9) - milliseconds(1) : kLongGrace;
      with.notice = draw_.Of(kNoticeWays);
      break;
    case FaultKind::kTornWrite:
      FillTear(with);
      break;
    case FaultKind::kShortWrite:
      with.bytes = draw_.LogUniform(13) - 1;
      break;
    case FaultKind::kErrno:
      with.error = Error(fault.site.point);
      // A disk that is full for a while: for longer than a last save is
      // retried, or shorter.
      if (draw_.OneIn(6)) with.hits = 1 + draw_.LogUniform(4);
      break;
    case FaultKind::kBitFlip:
      with.offset = AnyOffset(draw_);
      with.bit = static_cast<int>(draw_.Below(8));
      break;
    case FaultKind::kTruncate:
      with.offset = AnyOffset(draw_);
      break;
    case FaultKind::kWallClockJump:
      with.by = std::chrono::seconds(draw_.LogUniform(30));
      with.direction =
          draw_.OneIn(2) ? JumpDirection::kForward : JumpDirection::kBack;
      break;
    case FaultKind::kConnectionReset:
      break;
    default:
      if (IsNetworkFault(fault.kind)) FillTrouble(fault.kind, with);
      break;
  }
}

// Lets a fault repeat forever only if the process survives it: a death at every
// occurrence leaves no restarts.
void RandomParameters::FillTimes(Fault& fault) {
  const bool lives_on =
      fault.kind == FaultKind::kErrno || fault.kind == FaultKind::kShortWrite ||
      fault.kind == FaultKind::kFsyncFails ||
      fault.kind == FaultKind::kBitFlip || fault.kind == FaultKind::kTruncate ||
      fault.kind == FaultKind::kGpuError ||
      fault.kind == FaultKind::kOutOfMemory;
  if (!lives_on || !draw_.OneIn(12)) return;
  fault.with.times = FaultTimes::kAlways;
  fault.with.hits = 1;
  if (draw_.OneIn(2)) {
    fault.with.until_step = draw_.Below(space_.steps + 1);
  }
}

}  // namespace gauntlet
