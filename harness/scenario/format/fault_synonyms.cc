#include "harness/scenario/format/fault_synonyms.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace gauntlet {
namespace {

using enum FaultKind;

constexpr std::array kSynonyms = {
    FaultSynonym{"exit", kCrash},
    FaultSynonym{"die", kCrash},
    FaultSynonym{"sigkill", kKill},
    FaultSynonym{"kill_worker", kKill},
    FaultSynonym{"oom_kill", kKill},
    FaultSynonym{"oom_killer", kKill},
    FaultSynonym{"abort", kException},
    FaultSynonym{"sigabrt", kException},
    FaultSynonym{"deadlock", kHang},
    FaultSynonym{"block", kHang},
    FaultSynonym{"sigstop", kPause},
    FaultSynonym{"suspend", kPause},
    FaultSynonym{"freeze", kPause},
    FaultSynonym{"slow_down", kSlow},
    FaultSynonym{"straggler", kSlow},
    FaultSynonym{"slow_disk", kSlow},
    FaultSynonym{"slow_io", kSlow},
    FaultSynonym{"sigterm", kPreempt},
    FaultSynonym{"preemption", kPreempt},
    FaultSynonym{"evict", kPreempt},
    FaultSynonym{"eviction", kPreempt},
    FaultSynonym{"torn", kTornWrite},
    FaultSynonym{"disk_full", kErrno, "error", "ENOSPC"},
    FaultSynonym{"no_space", kErrno, "error", "ENOSPC"},
    FaultSynonym{"quota", kErrno, "error", "EDQUOT"},
    FaultSynonym{"read_only", kErrno, "error", "EROFS"},
    FaultSynonym{"io_error", kErrno, "error", "EIO"},
    FaultSynonym{"fsync_error", kFsyncFails},
    FaultSynonym{"fsync_failure", kFsyncFails},
    FaultSynonym{"corrupt", kBitFlip},
    FaultSynonym{"corruption", kBitFlip},
    FaultSynonym{"bitflip", kBitFlip},
    FaultSynonym{"bit_rot", kBitFlip},
    FaultSynonym{"shorten", kTruncate},
    FaultSynonym{"remove", kDelete},
    FaultSynonym{"unlink", kDelete},
    FaultSynonym{"powerloss", kPowerLoss},
    FaultSynonym{"power_cut", kPowerLoss},
    FaultSynonym{"power_failure", kPowerLoss},
    FaultSynonym{"power_off", kPowerLoss},
    FaultSynonym{"network_partition", kPartition},
    FaultSynonym{"netsplit", kPartition},
    FaultSynonym{"split_brain", kPartition},
    FaultSynonym{"one_way_partition", kAsymmetricPartition},
    FaultSynonym{"packet_drop", kPacketLoss},
    FaultSynonym{"network_loss", kPacketLoss},
    FaultSynonym{"network_delay", kDelay},
    FaultSynonym{"network_latency", kDelay},
    FaultSynonym{"packet_duplication", kDuplicate},
    FaultSynonym{"duplicate_packets", kDuplicate},
    FaultSynonym{"duplicated_frame", kDuplicate},
    FaultSynonym{"tcp_reset", kConnectionReset},
    FaultSynonym{"time_jump", kWallClockJump},
    FaultSynonym{"gpu_failure", kGpuError},
    FaultSynonym{"cuda_error", kGpuError},
    FaultSynonym{"device_error", kGpuError},
    FaultSynonym{"ecc", kGpuError, "error", "cudaErrorECCUncorrectable"},
    FaultSynonym{"oom", kOutOfMemory},
    FaultSynonym{"gpu_oom", kOutOfMemory},
    FaultSynonym{"cuda_oom", kOutOfMemory},
    FaultSynonym{"gpu_hang", kDeviceHang},
};

constexpr std::array kAmbiguous = {
    AmbiguousFaultName{"latency",
                       "use slow (a task takes longer) or delay (frames of the "
                       "network take longer)"},
    AmbiguousFaultName{"partial_write",
                       "use torn_write (some blocks land) or short_write (the "
                       "beginning lands, then the write fails)"},
    AmbiguousFaultName{"clock_skew",
                       "use wall_clock_jump; a wall clock that drifts does not "
                       "exist here"},
    AmbiguousFaultName{"segfault",
                       "use exception (the process aborts) or crash (it exits "
                       "with a code)"},
    AmbiguousFaultName{"network",
                       "use partition, asymmetric_partition, packet_loss, "
                       "delay, duplicate or connection_reset"},
    AmbiguousFaultName{"signal",
                       "use kill (SIGKILL), pause (SIGSTOP), preempt (SIGTERM) "
                       "or exception (SIGABRT)"},
    AmbiguousFaultName{"restart",
                       "use crash or kill: cluster.restart says what follows"},
};

// Returns "bit_flip" for "Bit-Flip".
std::string Normalized(std::string_view name) {
  std::string normalized(name);
  std::ranges::transform(normalized, normalized.begin(), [](unsigned char c) {
    return c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(c));
  });
  return normalized;
}

std::string_view ErrorNamed(std::string_view normalized) {
  for (const FaultErrorInfo& info : AllFaultErrors()) {
    if (Normalized(info.name) == normalized) return info.name;
  }
  return "";
}

YamlNode ScalarNode(std::string_view text, Place place) {
  return {.kind = YamlKind::kScalar,
          .place = place,
          .scalar = std::string(text),
          .items = {},
          .entries = {}};
}

// If the synonym implies a parameter, adds it to the fault's `with`, unless
// `with` already has it.
void AddParameter(const FaultSynonym& synonym, Place place, YamlNode& fault) {
  if (synonym.parameter.empty()) return;
  const auto entry_of = [](YamlNode& map, std::string_view key) -> YamlNode* {
    for (YamlEntry& entry : map.entries) {
      if (entry.key == key) return &entry.value;
    }
    return nullptr;
  };
  YamlNode* with = entry_of(fault, "with");
  if (with == nullptr) {
    YamlNode map = {.kind = YamlKind::kMap,
                    .place = place,
                    .scalar = {},
                    .items = {},
                    .entries = {}};
    fault.entries.push_back({"with", place, std::move(map)});
    with = &fault.entries.back().value;
  }
  if (with->kind != YamlKind::kMap ||
      entry_of(*with, synonym.parameter) != nullptr) {
    return;
  }
  with->entries.push_back({std::string(synonym.parameter), place,
                           ScalarNode(synonym.value, place)});
}

void ReplaceSynonym(YamlNode& fault, Diagnostics& diagnostics) {
  for (YamlEntry& entry : fault.entries) {
    YamlNode& value = entry.value;
    if (entry.key != "do" || value.kind != YamlKind::kScalar) continue;
    const std::optional<FaultSynonym> synonym = FindFaultSynonym(value.scalar);
    if (!synonym) return;
    const std::string_view kind = FaultKindName(synonym->kind);
    std::string meaning(kind);
    if (!synonym->parameter.empty()) {
      meaning +=
          fmt::format(" with {{{}: {}}}", synonym->parameter, synonym->value);
    }
    diagnostics.Warning(
        value.place,
        fmt::format("'{}' is understood as {}", value.scalar, meaning),
        fmt::format("gauntlet help {} describes it", kind));
    value.scalar = kind;
    const Place place = value.place;
    AddParameter(*synonym, place, fault);
    return;
  }
}

}  // namespace

std::span<const FaultSynonym> AllFaultSynonyms() { return kSynonyms; }

std::span<const AmbiguousFaultName> AllAmbiguousFaultNames() {
  return kAmbiguous;
}

std::optional<FaultSynonym> FindFaultSynonym(std::string_view name) {
  if (FindFaultKind(name)) return std::nullopt;
  const std::string normalized = Normalized(name);
  const auto* found =
      std::ranges::find(kSynonyms, normalized, &FaultSynonym::name);
  if (found != kSynonyms.end()) return *found;
  if (const auto kind = FindFaultKind(normalized)) {
    return FaultSynonym{.name = FaultKindName(*kind), .kind = *kind};
  }
  const std::string_view error = ErrorNamed(normalized);
  if (error.empty()) return std::nullopt;
  return FaultSynonym{
      .name = error, .kind = kErrno, .parameter = "error", .value = error};
}

std::string_view AdviceOnFaultName(std::string_view name) {
  const auto* found = std::ranges::find(kAmbiguous, Normalized(name),
                                        &AmbiguousFaultName::name);
  return found == kAmbiguous.end() ? "" : found->advice;
}

std::vector<std::string> SynonymsOf(FaultKind kind) {
  std::vector<std::string> names;
  for (const FaultSynonym& synonym : kSynonyms) {
    if (synonym.kind == kind) names.emplace_back(synonym.name);
  }
  return names;
}

void ReplaceFaultSynonyms(YamlNode& document, Diagnostics& diagnostics) {
  for (YamlEntry& entry : document.entries) {
    if (entry.key != "faults") continue;
    for (YamlNode& fault : entry.value.items)
      ReplaceSynonym(fault, diagnostics);
  }
}

}  // namespace gauntlet
