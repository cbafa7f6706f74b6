// A crash state that recovery got wrong, as a file by which it is looked at
// again: the scenario, and which image of which of its saves.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CRASH_FINDING_FILE_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CRASH_FINDING_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "chaos/sim/disk/crash_images.h"
#include "engine/status.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

inline constexpr std::string_view kCrashFindingEnding = ".crash.json";

struct CrashFinding {
  CrashStateFinding finding;
  std::string scenario;  // a document with the one case
  uint64_t save = 0;     // as CrashStateOptions::save
  CrashBound bound;      // under which the id holds
};

// One JSON text.
std::string CrashFindingToJson(const CrashFinding& finding);
// Strict. kInvalidArgument: what was expected where.
Result<CrashFinding> CrashFindingFromJson(std::string_view json);

// The base as a document; kInvalidArgument: what a scenario cannot say of it.
Result<std::string> CrashScenario(const Case& base);

// Leaves finding-<number>-<id>.crash.json in the directory, which is made if
// need be; gives its path.
Result<std::filesystem::path> WriteCrashFinding(
    const CrashFinding& finding, size_t number,
    const std::filesystem::path& directory);

// Looks at the image again: the finding that it is now. kNotFound: recovery
// gets it right, or the disk cannot come about any more.
Result<CrashStateFinding> RepeatCrashFinding(const CrashFinding& finding,
                                             References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CRASH_FINDING_FILE_H_
