#include "harness/oracle/history/fault_traits.h"

#include <algorithm>

namespace gauntlet {
namespace {

// A lying disk may lose data that it reported as durable. A host without the
// disk loses only its own process and the data that the process had not synced.
FaultTraits PowerCutOf(const RecordFault& fault) {
  if (fault.of_one_host) return kDeathOfOne;
  const bool lies = fault.disk == kLyingDisk;
  return {.ends_incarnation = true,
          .may_end_incarnation = true,
          .damages_store = lies,
          .cuts_power = true};
}

}  // namespace

FaultTraits TraitsOf(const RecordFault& fault) {
  const std::string& kind = fault.kind;
  if (kind == "power_loss") return PowerCutOf(fault);
  if (kind == "crash" || kind == "kill" || kind == "exception") {
    return kDeathOfOne;
  }
  if (kind == "hang" || kind == "pause" || kind == "device_hang") {
    return {.may_end_incarnation = true};
  }
  // A worker that no longer needs its device may stay.
  if (kind == "gpu_error" || kind == "out_of_memory") {
    return {.may_end_incarnation = true, .fails_device = true};
  }
  // A worker that exceeds the limit of a step is declared hung.
  if (kind == "slow") return {.may_end_incarnation = true};
  // These faults cost only connections and time.
  if (kind == "partition" || kind == "asymmetric_partition" ||
      kind == "connection_reset" || kind == "packet_loss" || kind == "delay") {
    return {.may_end_incarnation = true};
  }
  if (kind == "kill_launcher") {
    return {.may_end_incarnation = true, .kills_launcher = true};
  }
  if (kind == "preempt") return {.gives_notice = true};
  if (kind == "bit_flip" || kind == "truncate" || kind == "delete") {
    return {.damages_store = true};
  }
  // A silent torn write is damage; one with a crash never becomes a checkpoint.
  if (kind == "torn_write" && fault.then == "nothing") {
    return {.damages_store = true};
  }
  if (kind == "torn_write" && fault.then == "power_loss") {
    return PowerCutOf(fault);
  }
  if (kind == "torn_write") return kDeathOfOne;
  if (kind == "errno" || kind == "short_write" || kind == "fsync_fails") {
    return {.reports_error = true};
  }
  return {};
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

}  // namespace gauntlet
