// Id of one crash state: the profile, where the log was cut, and what survived.
#ifndef GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_IMAGE_ID_H_
#define GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_IMAGE_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "harness/explore/crash/crash_states.h"

namespace gauntlet {

struct ImageId {
  DurabilityProfile profile = DurabilityProfile::kExt4;
  CrashWindow window = CrashWindow::kSave;
  size_t operation = 0;  // index of the operation; kRot: of the file
  size_t names = 0;      // CrashImage::names; kRot: number of the bit
  std::vector<uint32_t> files;
};

// Returns an id such as "weak-save-17-3-0.2.5". It names the state only under
// the bound with which the state was found.
std::string IdOf(const ImageId& id);
// Parses the result of IdOf; nullopt for any other text.
std::optional<ImageId> ParseId(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_IMAGE_ID_H_
