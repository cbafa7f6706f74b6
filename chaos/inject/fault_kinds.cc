// The kinds, errors and names of a plan: tables, and what follows from a kind.
#include <algorithm>
#include <array>

#include "chaos/inject/plan.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array kKinds = {
    FaultKindInfo{FaultKind::kCrash, "crash", "exit_code",
                  "the process is gone at this instruction", ""},
    FaultKindInfo{FaultKind::kKill, "kill", "latency",
                  "the process is killed from outside a moment later", ""},
    FaultKindInfo{FaultKind::kException, "exception", "",
                  "an internal failure aborts the process", ""},
    FaultKindInfo{FaultKind::kHang, "hang", "duration",
                  "the calling task stands still", ""},
    FaultKindInfo{FaultKind::kStop, "stop", "duration",
                  "the whole process stands still", ""},
    FaultKindInfo{FaultKind::kSlow, "slow", "latency",
                  "the calling task takes longer", ""},
    FaultKindInfo{FaultKind::kPreempt, "preempt", "grace by",
                  "a termination notice, and a kill after the grace", ""},
    FaultKindInfo{FaultKind::kTornWrite, "torn_write", "blocks keep then",
                  "only some blocks of the next write land", ""},
    FaultKindInfo{FaultKind::kShortWrite, "short_write", "bytes",
                  "the next write lands in part, then fails", ""},
    FaultKindInfo{FaultKind::kErrno, "errno", "error hits",
                  "the operation fails with an error of the system", ""},
    FaultKindInfo{FaultKind::kFsyncFails, "fsync_fails", "",
                  "a sync fails once, and what it covered is never durable",
                  ""},
    FaultKindInfo{FaultKind::kBitFlip, "bit_flip", "offset bit",
                  "one bit of a file at rest is turned over", ""},
    FaultKindInfo{FaultKind::kTruncate, "truncate", "offset",
                  "a file at rest is cut short", ""},
    FaultKindInfo{FaultKind::kDelete, "delete", "", "a file at rest is gone",
                  ""},
    FaultKindInfo{FaultKind::kPowerLoss, "power_loss", "",
                  "the machine loses power, and what was not synced is open",
                  "real processes share a running kernel, which keeps what "
                  "was not synced"},
    FaultKindInfo{FaultKind::kPartition, "partition", "duration groups",
                  "the worker, or groups of workers, are cut from the others",
                  ""},
    FaultKindInfo{FaultKind::kOneWay, "one_way", "duration way",
                  "what the worker sends, or what is sent to it, stays away",
                  ""},
    FaultKindInfo{FaultKind::kDrop, "drop", "duration percent",
                  "some frames from and to the worker have to be sent again",
                  ""},
    FaultKindInfo{FaultKind::kDelay, "delay", "duration latency jitter",
                  "each frame from and to the worker takes longer", ""},
    FaultKindInfo{FaultKind::kReset, "reset", "",
                  "all connections of the worker break", ""},
    FaultKindInfo{FaultKind::kClockJump, "clock_jump", "by direction",
                  "the calendar that the worker reads jumps", ""},
    FaultKindInfo{FaultKind::kGpuError, "gpu_error", "error",
                  "the worker's device fails until the process is gone", ""},
    FaultKindInfo{FaultKind::kOutOfMemory, "out_of_memory", "",
                  "the worker's device has no memory for the next array", ""},
    FaultKindInfo{FaultKind::kDeviceHang, "device_hang", "duration",
                  "who waits for the worker's device waits on", ""},
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

std::string_view ParametersOf(FaultKind kind) {
  return kKinds[static_cast<size_t>(kind)].parameters;
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

Status FaultErrorStatus(int number, std::string_view what) {
  const auto* found =
      std::ranges::find(kErrors, number, &FaultErrorInfo::number);
  if (found == kErrors.end()) {
    return IoError(fmt::format("{}: injected error {}", what, number));
  }
  return {found->code, fmt::format("{}: injected {}", what, found->name)};
}

std::span<const DeviceErrorInfo> AllDeviceErrors() { return kDeviceErrors; }

std::string DeviceErrorText(DeviceError error) {
  const DeviceErrorInfo& info = kDeviceErrors[static_cast<size_t>(error)];
  return fmt::format("injected: {} ({})", info.text, info.name);
}

bool HasOffset(Point point) {
  return point == Point::kShardWrite || point == Point::kIndexWrite ||
         point == Point::kManifestWrite || point == Point::kStateWrite;
}

uint64_t FileOffset::In(uint64_t file_size) const {
  if (unit == OffsetUnit::kBytes) return value;
  // Without overflow for any size: whole hundreds first.
  return file_size / 100 * value + file_size % 100 * value / 100;
}

bool IsOfNetwork(FaultKind kind) {
  return kind == FaultKind::kPartition || kind == FaultKind::kOneWay ||
         kind == FaultKind::kDrop || kind == FaultKind::kDelay ||
         kind == FaultKind::kReset;
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
