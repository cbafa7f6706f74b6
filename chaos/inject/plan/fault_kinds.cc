// Tables of the kinds, errors and names of a plan, and functions of a kind.
#include <algorithm>
#include <array>

#include "chaos/inject/plan/plan.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using enum FaultTarget;

constexpr std::array kKinds = {
    FaultKindInfo{FaultKind::kCrash,
                  kProcess,
                  "crash",
                  "the process exits at once, without cleanup",
                  {.ends_process = true}},
    FaultKindInfo{
        FaultKind::kKill,
        kProcess,
        "kill",
        "SIGKILL kills the process at once, or `latency` after the point",
        {.ends_process = true}},
    FaultKindInfo{FaultKind::kException,
                  kProcess,
                  "exception",
                  "an internal error aborts the process (SIGABRT)",
                  {.ends_process = true}},
    FaultKindInfo{
        FaultKind::kHang,
        kProcess,
        "hang",
        "the task at the point blocks; the other tasks of the process run on",
        {.halts = true, .keeps_heartbeats = true}},
    FaultKindInfo{FaultKind::kPause,
                  kProcess,
                  "pause",
                  "SIGSTOP pauses the whole process",
                  {.halts = true}},
    FaultKindInfo{FaultKind::kSlow, kProcess, "slow",
                  "the task at the point takes longer"},
    FaultKindInfo{FaultKind::kPreempt,
                  kProcess,
                  "preempt",
                  "the worker gets a preemption notice, and SIGKILL at the end "
                  "of the grace period",
                  {.gives_notice = true}},
    FaultKindInfo{
        FaultKind::kTornWrite, kStorage, "torn_write",
        "some blocks of the next write reach the disk and the others do not"},
    FaultKindInfo{FaultKind::kShortWrite,
                  kStorage,
                  "short_write",
                  "the beginning of the next write reaches the disk, then the "
                  "write fails with an error",
                  {.may_repeat = true}},
    FaultKindInfo{FaultKind::kErrno,
                  kStorage,
                  "errno",
                  "the operation at the point fails with an error of the "
                  "operating system",
                  {.may_repeat = true}},
    FaultKindInfo{FaultKind::kFsyncFails,
                  kStorage,
                  "fsync_fails",
                  "the next fsync fails once, and the data that it covered "
                  "never becomes durable",
                  {.may_repeat = true}},
    FaultKindInfo{
        FaultKind::kBitFlip,
        kStorage,
        "bit_flip",
        "one bit of a stored file flips. At a point of a load: of the next "
        "file opened. At any other point: of the next file written, once its "
        "fsync has ended",
        {.damages_file = true, .may_repeat = true}},
    FaultKindInfo{FaultKind::kTruncate,
                  kStorage,
                  "truncate",
                  "a stored file is cut short; the fault chooses the file as "
                  "bit_flip does",
                  {.damages_file = true, .may_repeat = true}},
    FaultKindInfo{FaultKind::kDelete,
                  kStorage,
                  "delete",
                  "a stored file disappears; the fault chooses the file as "
                  "bit_flip does",
                  {.damages_file = true}},
    FaultKindInfo{
        FaultKind::kPowerLoss,
        kStorage,
        "power_loss",
        "all hosts lose power, and data that was not synced may be lost; if "
        "workers have hosts of their own and disk.profile is shared, only the "
        "worker's host does",
        {.ends_process = true},
        "real processes share a running kernel, which keeps data that was not "
        "synced"},
    FaultKindInfo{FaultKind::kPartition, kNetwork, "partition",
                  "a network partition cuts the worker, or groups of workers, "
                  "off from the others"},
    FaultKindInfo{FaultKind::kAsymmetricPartition, kNetwork,
                  "asymmetric_partition",
                  "frames in one direction, from the worker (outbound) or to "
                  "it (inbound), do not arrive"},
    FaultKindInfo{
        FaultKind::kPacketLoss, kNetwork, "packet_loss",
        "some frames from the worker and to it are lost and sent again"},
    FaultKindInfo{FaultKind::kDelay, kNetwork, "delay",
                  "each frame from the worker and to it arrives later"},
    FaultKindInfo{FaultKind::kDuplicate,
                  kNetwork,
                  "duplicate",
                  "each frame from the worker and to it arrives twice",
                  {.may_end_incarnation = false}},
    FaultKindInfo{FaultKind::kConnectionReset, kNetwork, "connection_reset",
                  "all connections of the worker are reset"},
    FaultKindInfo{
        FaultKind::kWallClockJump,
        kWallClock,
        "wall_clock_jump",
        "the wall clock of the worker jumps; its monotonic clock does not",
        {.may_end_incarnation = false}},
    FaultKindInfo{
        FaultKind::kGpuError,
        kDevice,
        "gpu_error",
        "every operation on the worker's device fails until the process ends",
        {.may_repeat = true}},
    FaultKindInfo{FaultKind::kOutOfMemory,
                  kDevice,
                  "out_of_memory",
                  "the next allocation on the worker's device fails",
                  {.may_repeat = true}},
    FaultKindInfo{FaultKind::kDeviceHang,
                  kDevice,
                  "device_hang",
                  "operations on the worker's device do not complete",
                  {.halts = true, .keeps_heartbeats = true}},
    FaultKindInfo{
        FaultKind::kKillLauncher, kProcess, "kill_launcher",
        "SIGKILL kills the launcher of the worker and no other process; the "
        "launcher starts again at most preemption.requeue times"},
    FaultKindInfo{FaultKind::kTerminateLauncher,
                  kProcess,
                  "terminate_launcher",
                  "the launcher of the worker gets SIGTERM and sends a "
                  "preemption notice to its workers",
                  {.gives_notice = true}},
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

// The texts are those of cudaGetErrorString.
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

const FaultKindInfo& InfoOf(FaultKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

std::string_view FaultKindName(FaultKind kind) { return InfoOf(kind).name; }

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
  // Multiplies whole hundreds first, so that the product cannot overflow.
  return file_size / 100 * value + file_size % 100 * value / 100;
}

bool IsNetworkFault(FaultKind kind) { return InfoOf(kind).target == kNetwork; }

bool IsOfDevice(FaultKind kind) { return InfoOf(kind).target == kDevice; }

bool CutsPower(const Fault& fault) {
  return fault.kind == FaultKind::kPowerLoss ||
         (fault.kind == FaultKind::kTornWrite &&
          fault.with.then == AfterTear::kPowerLoss);
}

std::string_view SimOnlyReason(const Fault& fault) {
  if (!fault.with.groups.empty()) {
    return "a real process can cut its own connections only, and groups cut "
           "those of other processes too";
  }
  return InfoOf(CutsPower(fault) ? FaultKind::kPowerLoss : fault.kind)
      .why_not_real;
}

}  // namespace gauntlet
