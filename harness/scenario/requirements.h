// Checks a case's requirements against the machine and the world.
#ifndef GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_
#define GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.h"

namespace gauntlet {

enum class WorldKind : uint8_t { kReal, kSimulated };

// Returns "real" or "sim", as in commands and records.
std::string_view WorldKindName(WorldKind world);

// Resources of the machine, and features of the world.
struct Capabilities {
  WorldKind world = WorldKind::kReal;
  int gpus = 0;
  uint64_t disk_bytes = 0;            // free
  std::vector<std::string> features;  // of AllFeatures()
};

// Returns the features of the world. The caller adds the resources of the
// machine.
Capabilities CapabilitiesOf(WorldKind world);

// Returns true iff the case requests NCCL and its workers have no device in
// some attempt.
bool LacksDeviceForNccl(const Case& one);

// Returns the reason to skip the case here, one line; "" if it can run.
std::string WhyNotHere(const Case& one, const Capabilities& here);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_REQUIREMENTS_H_
