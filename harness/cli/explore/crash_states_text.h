// Crash states and the failures to recover from them, as text and as JSON.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/explore/crash/crash_states.h"
#include <nlohmann/json.hpp>

namespace gauntlet {

// Totals over all crash windows (CrashWindow) and disk profiles.
struct CrashStateTotals {
  uint64_t points = 0;
  uint64_t enumerated = 0;
  uint64_t distinct = 0;
  double left_out = 0;
};
CrashStateTotals TotalsOf(const CrashStateReport& report);

// Returns the parts of the search that did not finish, such as "rot" or "save
// on weak" (a crash window on a disk profile).
std::vector<std::string> UnfinishedParts(const CrashStateReport& report);

// A finding and its file, or the reason why it has no file.
struct WrittenCrashFinding {
  CrashStateFinding finding;
  std::string file = {};
  std::string why_no_file = {};
  Status write_status = {};
};

// Returns several lines; the first begins with "FOUND  weak-save-17-3-0.2:
// power lost after …".
std::string RenderCrashFinding(const WrittenCrashFinding& written);
// Returns a line for each crash window on each disk profile.
std::string RenderCrashStateParts(const CrashStateReport& report);

nlohmann::ordered_json CrashFindingsToJson(
    const std::vector<WrittenCrashFinding>& written);
nlohmann::ordered_json CrashStatePartsToJson(const CrashStateReport& report);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_CRASH_STATES_TEXT_H_
