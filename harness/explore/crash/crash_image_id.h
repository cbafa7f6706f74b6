// The name of one crash image: which cut it is of, and what survived.
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
  size_t operation = 0;  // kRot: which file
  size_t names = 0;      // kRot: which bit
  std::vector<uint32_t> files;
};

// "weak-save-17-3-0.2.5"; holds for the bound that it was found under.
std::string IdOf(const ImageId& id);
// The inverse; nullopt for anything else.
std::optional<ImageId> ParseId(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CRASH_CRASH_IMAGE_ID_H_
