// Renders the result of an exploration as JSON.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_JSON_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/explore/crash_states_text.h"
#include "harness/cli/flags/commands.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/campaign/finding_files.h"

namespace gauntlet {

// Schema of the JSON object in every mode.
inline constexpr std::string_view kExploreSchema = "gauntlet.explore/v2";

// The files of a report's findings, in the order of the findings.
struct CampaignFiles {
  const std::vector<FindingFiles>& plans;
  const std::vector<WrittenCrashFinding>& crash_states;
};
// Returns one line of JSON.
std::string CampaignToJson(const Case& base, const CampaignReport& report,
                           const CampaignFiles& files,
                           const ExploreCommand& command, uint64_t seed);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_JSON_H_
