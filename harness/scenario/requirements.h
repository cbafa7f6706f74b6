// Whether a case can be run here, and why not.
#ifndef GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_
#define GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.h"

namespace gauntlet {

enum class WorldKind : uint8_t { kReal, kSimulated };

// "real" or "sim", as commands and records write it.
std::string_view WorldKindName(WorldKind world);

// What the machine and the world have.
struct Capabilities {
  WorldKind world = WorldKind::kReal;
  int gpus = 0;
  uint64_t disk_bytes = 0;            // free
  std::vector<std::string> features;  // of AllFeatures()
};

// What the world has wherever it is; the machine's part is left to the caller.
Capabilities CapabilitiesOf(WorldKind world);

// Whether NCCL is asked for, and a life has no device to sum on.
bool LacksDeviceForNccl(const Case& one);

// What is missing for the case: the reason of a SKIP. "" if nothing is.
std::string WhyNotHere(const Case& one, const Capabilities& here);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_
