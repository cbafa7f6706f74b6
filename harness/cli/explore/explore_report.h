// Builds report.html of an exploration from its results.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_REPORT_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_REPORT_H_

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "harness/cli/explore/crash_states_text.h"
#include "harness/cli/explore/explore_json.h"
#include "harness/cli/flags/commands.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/scenario/scenario.h"
#include "reports/html/exploration_report.h"

namespace gauntlet {

// Base and options of an exploration; `seed` is the one in use.
struct Exploration {
  const Case& base;
  const ExploreCommand& command;
  uint64_t seed = 0;
};

// Returns the contents of the report. They point to records in `report`, so
// `report` must outlive them.
ExplorationReport ReportOf(const Exploration& exploration,
                           const CampaignReport& report,
                           const CampaignFiles& files);

// End of a search for crash states: the reason, such as "interrupted", and the
// time since the start of the search.
struct CrashStatesEnd {
  std::string_view name;
  double seconds = 0;
};

// Returns the contents of the report for mode crash-states.
ExplorationReport ReportOf(const Exploration& exploration,
                           const CrashStateReport& report,
                           const std::vector<WrittenCrashFinding>& findings,
                           const CrashStatesEnd& end);

// Writes report.html next to the run's folder of findings or, with --out, into
// the folder of --out. Creates the folder if it is missing. If it has a report
// already, writes report.2.html, and so on. Returns the path.
Result<std::filesystem::path> WriteReport(
    const ExplorationReport& report, const ExploreCommand& command,
    const std::filesystem::path& findings);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_REPORT_H_
