#include "harness/record/fault_traits.h"

#include <algorithm>
#include <array>

namespace gauntlet {
namespace {

using enum HinderedPart;

constexpr std::array kKinds = {
    FaultKindTraits{"crash", kEndsOneProcess},
    FaultKindTraits{"kill", kEndsOneProcess},
    FaultKindTraits{"exception", kEndsOneProcess},
    FaultKindTraits{
        "hang", {.may_end_incarnation = true, .hinders = kTask, .lasts = true}},
    FaultKindTraits{
        "pause",
        {.may_end_incarnation = true, .hinders = kProcess, .lasts = true}},
    // A worker that exceeds the limit of a step is declared hung.
    FaultKindTraits{"slow", {.may_end_incarnation = true, .hinders = kTask}},
    FaultKindTraits{"preempt", {.gives_notice = true}},
    FaultKindTraits{"torn_write", kEndsOneProcess},
    FaultKindTraits{"short_write", {.reports_error = true}},
    FaultKindTraits{"errno", {.reports_error = true}},
    FaultKindTraits{"fsync_fails", {.reports_error = true}},
    FaultKindTraits{"bit_flip", {.damages_store = true}},
    FaultKindTraits{"truncate", {.damages_store = true}},
    FaultKindTraits{"delete", {.damages_store = true}},
    FaultKindTraits{"power_loss",
                    {.ends_incarnation = true,
                     .may_end_incarnation = true,
                     .cuts_power = true}},
    // Faults of the network break connections and cost time; they do nothing
    // else.
    FaultKindTraits{
        "partition",
        {.may_end_incarnation = true, .hinders = kLinks, .lasts = true}},
    FaultKindTraits{
        "asymmetric_partition",
        {.may_end_incarnation = true, .hinders = kLinks, .lasts = true}},
    // Each frame that is late has an event of its own.
    FaultKindTraits{"packet_loss",
                    {.may_end_incarnation = true, .lasts = true}},
    FaultKindTraits{
        "delay",
        {.may_end_incarnation = true, .hinders = kFrames, .lasts = true}},
    FaultKindTraits{"duplicate", {}},
    FaultKindTraits{"connection_reset",
                    {.may_end_incarnation = true, .hinders = kLinks}},
    FaultKindTraits{"wall_clock_jump", {}},
    // Without ends_incarnation, because a worker that no longer needs its
    // device may continue.
    FaultKindTraits{
        "gpu_error",
        {.may_end_incarnation = true, .fails_device = true, .lasts = true}},
    FaultKindTraits{
        "out_of_memory",
        {.may_end_incarnation = true, .fails_device = true, .lasts = true}},
    FaultKindTraits{
        "device_hang",
        {.may_end_incarnation = true, .hinders = kDevice, .lasts = true}},
    FaultKindTraits{
        "kill_launcher",
        {.may_end_incarnation = true, .kills_launcher = true, .lasts = true}},
    FaultKindTraits{"terminate_launcher", {}},
};

}  // namespace

std::span<const FaultKindTraits> AllFaultTraits() { return kKinds; }

FaultTraits TraitsOf(const RecordFault& fault) {
  const auto* const found =
      std::ranges::find(kKinds, fault.kind, &FaultKindTraits::kind);
  if (found == kKinds.end()) return {};
  FaultTraits traits = found->traits;
  if (fault.kind == "torn_write") {
    // If the process continues after the torn write, the store is damaged. If
    // it crashes, the torn file never becomes part of a checkpoint.
    if (fault.then == "nothing") return {.damages_store = true};
    traits.cuts_power = fault.then == "power_loss";
  }
  if (!traits.cuts_power) return traits;
  // A power loss of one host that does not have the disk only ends the process
  // and loses data that the process had not synced.
  if (fault.of_one_host) return kEndsOneProcess;
  // A lying disk may lose data that it reported as durable.
  traits.damages_store = fault.disk == kLyingDisk;
  return traits;
}

bool GivesNotice(const RecordFault& fault) {
  return TraitsOf(fault).gives_notice && fault.grace_ns > 0;
}

bool EndsItsProcess(const RecordFault& fault) {
  return fault.kind == "kill" || fault.kind == "crash" ||
         fault.kind == "exception";
}

bool DiesImmediately(const RecordFault& fault) {
  return TraitsOf(fault).ends_incarnation &&
         (fault.kind != "kill" || fault.latency_ns == 0);
}

std::optional<int64_t> KillsAfter(const RecordFault& fault) {
  if (fault.kind == "kill") return fault.latency_ns;
  if (fault.kind == "preempt") return fault.grace_ns;
  if (fault.kind == "crash" || fault.kind == "exception" ||
      (fault.kind == "torn_write" && fault.then == "crash")) {
    return 0;
  }
  return std::nullopt;
}

bool IsStorageError(RecordReason reason) {
  return reason == RecordReason::kDiskError ||
         reason == RecordReason::kDiskFull ||
         reason == RecordReason::kForbidden ||
         reason == RecordReason::kMissingFile;
}

}  // namespace gauntlet
