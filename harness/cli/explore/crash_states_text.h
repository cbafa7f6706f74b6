// Crash states and what recovery got wrong in them, for people and programs.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/explore/crash/crash_states.h"
#include <nlohmann/json.hpp>

namespace gauntlet {

// Over all windows and disks.
struct CrashStateTotals {
  uint64_t points = 0;
  uint64_t enumerated = 0;
  uint64_t distinct = 0;
  double left_out = 0;
};
CrashStateTotals TotalsOf(const CrashStateReport& report);

// "save on weak", "rot".
std::vector<std::string> UnfinishedParts(const CrashStateReport& report);

// A finding and the file that it was left in, or why there is none.
struct WrittenCrashFinding {
  CrashStateFinding finding;
  std::string file = {};
  std::string why_no_file = {};
  Status write_status = {};
};

// "FOUND  weak-save-17-3-0.2: power lost after …", several lines.
std::string RenderCrashFinding(const WrittenCrashFinding& written);
// A line for each window on each disk.
std::string RenderCrashStateParts(const CrashStateReport& report);

nlohmann::ordered_json CrashFindingsToJson(
    const std::vector<WrittenCrashFinding>& written);
nlohmann::ordered_json CrashStatePartsToJson(const CrashStateReport& report);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_
