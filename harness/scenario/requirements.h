// Requirements of a case, held against the machine and the world.
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

// Resources of the machine, and features of the world.
struct Capabilities {
  WorldKind world = WorldKind::kReal;
  int gpus = 0;
  uint64_t disk_bytes = 0;            // free
  std::vector<std::string> features;  // of AllFeatures()
};

// Returns the features of the world. The caller fills in the machine's
// resources.
Capabilities CapabilitiesOf(WorldKind world);

// Returns true if the case asks for NCCL and some life of its workers has no
// device.
bool LacksDeviceForNccl(const Case& one);

// Returns the reason to skip the case here, one line; empty: it can run.
std::string WhyNotHere(const Case& one, const Capabilities& here);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_
