// A file that describes a crash state from which recovery went wrong. It holds
// what is needed to check the state again: the scenario, the save, and the id
// of the state.
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
  std::string scenario;  // document of the base, without faults
  uint64_t save = 0;     // as CrashStateOptions::save
  CrashBound bound;      // bound under which the id is valid
};

// Returns the finding as one JSON text.
std::string CrashFindingToJson(const CrashFinding& finding);
// Reads the JSON text strictly. kInvalidArgument states what was expected, and
// where.
Result<CrashFinding> CrashFindingFromJson(std::string_view json);

// Returns the base as a scenario document. kInvalidArgument states the part of
// the base that a scenario cannot express.
Result<std::string> CrashScenario(const Case& base);

// Writes finding-<number>-<id>.crash.json into the directory, which is created
// if it is missing. Returns the file's path.
Result<std::filesystem::path> WriteCrashFinding(
    const CrashFinding& finding, size_t number,
    const std::filesystem::path& directory);

// Recovers from the crash state again and returns the finding of this recovery.
// kNotFound: recovery now succeeds, or no crash can now leave that state.
Result<CrashStateFinding> RepeatCrashFinding(const CrashFinding& finding,
                                             References& references);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CRASH_FINDING_FILE_H_
