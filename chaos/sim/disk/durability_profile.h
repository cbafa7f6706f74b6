// Durability guarantees of the disks of a simulated run. sim_disk.h and
// shared_view.h define each profile in full.
//
//   ext4         with default mount options (data=ordered, delayed allocation):
//                changes of names survive in order, overwritten blocks
//                independently, appended data as a prefix; a file truncated and
//                written again is the old one, or a prefix of the new one
//   weak         everything that POSIX permits
//   lying-fsync  as weak, but a sync takes effect only several syncs later
//   shared       a file server, with a cache in each host
#ifndef GAUNTLET_CHAOS_SIM_DISK_DURABILITY_PROFILE_H_
#define GAUNTLET_CHAOS_SIM_DISK_DURABILITY_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gauntlet {

enum class DurabilityProfile : uint8_t { kExt4, kWeak, kLyingFsync, kShared };

// In the order of the enum.
inline constexpr std::array<std::string_view, 4> kProfileNames = {
    "ext4", "weak", "lying-fsync", "shared"};

constexpr std::string_view ProfileName(DurabilityProfile profile) {
  return kProfileNames[static_cast<size_t>(profile)];
}

constexpr std::optional<DurabilityProfile> FindProfile(std::string_view name) {
  for (size_t i = 0; i < kProfileNames.size(); ++i) {
    if (kProfileNames[i] == name) return static_cast<DurabilityProfile>(i);
  }
  return std::nullopt;
}

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_SIM_DISK_DURABILITY_PROFILE_H_
