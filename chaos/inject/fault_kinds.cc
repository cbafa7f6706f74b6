// The kinds, errors and names of a plan: tables, and what follows from a kind.
#include <algorithm>
#include <array>

#include "chaos/inject/plan.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array kKinds = {
    FaultKindInfo{FaultKind::kCrash, "crash",
                  "the process exits at this instruction", ""},
    FaultKindInfo{FaultKind::kKill, "kill",
                  "the process is killed (SIGKILL) at this instruction, or "
                  "`latency` later",
                  ""},
    FaultKindInfo{FaultKind::kException, "exception",
                  "an internal failure aborts the process", ""},
    FaultKindInfo{FaultKind::kHang, "hang", "the calling task blocks", ""},
    FaultKindInfo{FaultKind::kPause, "pause",
                  "the whole process is stopped (SIGSTOP)", ""},
    FaultKindInfo{FaultKind::kSlow, "slow", "the calling task takes longer",
                  ""},
    FaultKindInfo{FaultKind::kPreempt, "preempt",
                  "a termination notice, and a kill after the grace", ""},
    FaultKindInfo{FaultKind::kTornWrite, "torn_write",
                  "only some blocks of the next write land", ""},
    FaultKindInfo{FaultKind::kShortWrite, "short_write",
                  "the next write lands in part, then fails", ""},
    FaultKindInfo{FaultKind::kErrno, "errno",
                  "the operation fails with an error of the system", ""},
    FaultKindInfo{FaultKind::kFsyncFails, "fsync_fails",
                  "a sync fails once, and what it covered is never durable",
                  ""},
    FaultKindInfo{FaultKind::kBitFlip, "bit_flip",
                  "one bit of a file at rest flips: of the file that the next "
                  "write goes to, once it is synced; at a load's points, of "
                  "the file opened next",
                  ""},
    FaultKindInfo{FaultKind::kTruncate, "truncate",
                  "a file at rest is cut short; which file: as bit_flip", ""},
    FaultKindInfo{FaultKind::kDelete, "delete",
                  "a file at rest is gone; which file: as bit_flip", ""},
    FaultKindInfo{FaultKind::kPowerLoss, "power_loss",
                  "the machine loses power, and all that was not synced may "
                  "be lost",
                  "real processes share a running kernel, which keeps what "
                  "was not synced"},
    FaultKindInfo{FaultKind::kPartition, "partition",
                  "the worker, or groups of workers, are cut from the others",
                  ""},
    FaultKindInfo{FaultKind::kAsymmetricPartition, "asymmetric_partition",
                  "frames that the worker sends, or that are sent to it, do "
                  "not arrive",
                  ""},
    FaultKindInfo{FaultKind::kPacketLoss, "packet_loss",
                  "some frames from and to the worker have to be sent again",
                  ""},
    FaultKindInfo{FaultKind::kDelay, "delay",
                  "each frame from and to the worker takes longer", ""},
    FaultKindInfo{FaultKind::kConnectionReset, "connection_reset",
                  "all connections of the worker break", ""},
    FaultKindInfo{FaultKind::kWallClockJump, "wall_clock_jump",
                  "the worker's wall clock jumps; monotonic time goes on", ""},
    FaultKindInfo{FaultKind::kGpuError, "gpu_error",
                  "the worker's device fails until the process is gone", ""},
    FaultKindInfo{FaultKind::kOutOfMemory, "out_of_memory",
                  "the next allocation on the worker's device fails", ""},
    FaultKindInfo{FaultKind::kDeviceHang, "device_hang",
                  "operations on the worker's device do not end", ""},
    FaultKindInfo{FaultKind::kKillLauncher, "kill_launcher",
                  "the worker's launcher is killed (SIGKILL), and nobody else; "
                  "it is started again as often as preemption.requeue allows",
                  ""},
    FaultKindInfo{FaultKind::kTerminateLauncher, "terminate_launcher",
                  "the worker's launcher is told to end (SIGTERM), and passes "
                  "the notice on",
                  ""},
};

constexpr std::array kErrors = {
    FaultErrorInfo{EIO, "EIO", Code::kIoError},
    FaultErrorInfo{ENOSPC, "ENOSPC", Code::kResourceExhausted},
    FaultErrorInfo{EDQUOT, "EDQUOT", Code::kResourceExhausted},
    FaultErrorInfo{EMFILE, "EMFILE", Code::kIoError},
    FaultErrorInfo{ENFILE, "ENFILE", Code::kIoError},
    FaultErrorInfo{ENOENT, "ENOENT", Code::kNotFound},
    FaultErrorInfo{EEXIST, "EEXIST", Code::kAlreadyExists},
    FaultErrorInfo{EACCES, "EACCES", Code::kForbidden},
    FaultErrorInfo{EROFS, "EROFS", Code::kForbidden},
    FaultErrorInfo{EFBIG, "EFBIG", Code::kForbidden},
    FaultErrorInfo{ESTALE, "ESTALE", Code::kIoError},
    FaultErrorInfo{ETIMEDOUT, "ETIMEDOUT", Code::kDeadlineExceeded},
    FaultErrorInfo{ECONNRESET, "ECONNRESET", Code::kUnavailable},
    FaultErrorInfo{EPIPE, "EPIPE", Code::kUnavailable},
};

// What CUDA says of them (cudaGetErrorString).
constexpr std::array kDeviceErrors = {
    DeviceErrorInfo{DeviceError::kLaunchFailure, "cudaErrorLaunchFailure",
                    "unspecified launch failure"},
    DeviceErrorInfo{DeviceError::kEccUncorrectable, "cudaErrorECCUncorrectable",
                    "uncorrectable ECC error encountered"},
    DeviceErrorInfo{DeviceError::kIllegalAddress, "cudaErrorIllegalAddress",
                    "an illegal memory access was encountered"},
    DeviceErrorInfo{DeviceError::kDevicesUnavailable,
                    "cudaErrorDevicesUnavailable",
                    "CUDA-capable device(s) is/are busy or unavailable"},
    DeviceErrorInfo{DeviceError::kMemoryAllocation, "cudaErrorMemoryAllocation",
                    "out of memory"},
};

}  // namespace

std::span<const FaultKindInfo> AllFaultKinds() { return kKinds; }

std::string_view FaultKindName(FaultKind kind) {
  return kKinds[static_cast<size_t>(kind)].name;
}

std::string WorkerName(int worker) {
  switch (worker) {
    case kAnyWorker:
      return "any";
    case kAllWorkers:
      return "all";
    case kChief:
      return "chief";
    default:
      return std::to_string(worker);
  }
}

std::optional<int> FindWorkerSymbol(std::string_view name) {
  for (const int symbol : {kAnyWorker, kAllWorkers, kChief}) {
    if (WorkerName(symbol) == name) return symbol;
  }
  return std::nullopt;
}

std::string_view AfterTearName(AfterTear then) {
  switch (then) {
    case AfterTear::kCrash:
      return "crash";
    case AfterTear::kPowerLoss:
      return "power_loss";
    case AfterTear::kNothing:
      return "nothing";
  }
  return "";
}

std::string_view NoticeByName(NoticeBy by) {
  switch (by) {
    case NoticeBy::kSignal:
      return "signal";
    case NoticeBy::kFile:
      return "file";
    case NoticeBy::kHttp:
      return "http";
  }
  return "";
}

std::optional<FaultKind> FindFaultKind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &FaultKindInfo::name);
  if (found == kKinds.end()) return std::nullopt;
  return found->kind;
}

std::span<const FaultErrorInfo> AllFaultErrors() { return kErrors; }

Status FaultErrorStatus(int number, Point point) {
  const std::string_view what = PointName(point);
  const auto* found =
      std::ranges::find(kErrors, number, &FaultErrorInfo::number);
  if (found == kErrors.end()) {
    return IoError(fmt::format("{}: injected error {}", what, number));
  }
  const bool of_network = found->code == Code::kUnavailable ||
                          found->code == Code::kDeadlineExceeded;
  const bool at_storage = InfoOf(point).next != StorageOperation::kNone;
  return {of_network && at_storage ? Code::kIoError : found->code,
          fmt::format("{}: injected {}", what, found->name)};
}

std::span<const DeviceErrorInfo> AllDeviceErrors() { return kDeviceErrors; }

std::string DeviceErrorText(DeviceError error) {
  const DeviceErrorInfo& info = kDeviceErrors[static_cast<size_t>(error)];
  return fmt::format("injected: {} ({})", info.text, info.name);
}

bool HasBlocks(Point point) {
  return InfoOf(point).rate == HitRate::kEachBlock;
}

uint64_t FileOffset::In(uint64_t file_size) const {
  if (unit == OffsetUnit::kBytes) return value;
  // Without overflow for any size: whole hundreds first.
  return file_size / 100 * value + file_size % 100 * value / 100;
}

bool IsOfNetwork(FaultKind kind) {
  return kind == FaultKind::kPartition ||
         kind == FaultKind::kAsymmetricPartition ||
         kind == FaultKind::kPacketLoss || kind == FaultKind::kDelay ||
         kind == FaultKind::kConnectionReset;
}

bool IsOfDevice(FaultKind kind) {
  return kind == FaultKind::kGpuError || kind == FaultKind::kOutOfMemory ||
         kind == FaultKind::kDeviceHang;
}

bool CutsPower(const Fault& fault) {
  return fault.kind == FaultKind::kPowerLoss ||
         (fault.kind == FaultKind::kTornWrite &&
          fault.with.then == AfterTear::kPowerLoss);
}

std::string_view WhyNotReal(const Fault& fault) {
  if (!fault.with.groups.empty()) {
    return "a real process reaches its own connections only, and groups are "
           "about those of others";
  }
  const FaultKind kind = CutsPower(fault) ? FaultKind::kPowerLoss : fault.kind;
  return kKinds[static_cast<size_t>(kind)].why_not_real;
}

}  // namespace gauntlet
