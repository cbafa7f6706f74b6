// What an exploration came to, for people and for programs.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_TEXT_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_TEXT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/commands.h"
#include "harness/cli/crash_states_text.h"
#include "harness/explore/campaign.h"
#include "harness/explore/finding_files.h"

namespace gauntlet {

// Of what --json prints, in every mode.
inline constexpr std::string_view kExploreSchema = "gauntlet.explore/v2";

// "explore-base: 4 workers, 24 steps; mode random, up to 3 faults in a plan,
// …", and what is in place of the base's own limits.
std::string RenderExploreHead(const Case& base, const ExploreCommand& command,
                              uint64_t seed);
// The same of --mode crash-states.
std::string RenderCrashStatesHead(const Case& base,
                                  const CrashStateChoice& choice);
// "FOUND  case 1377: …", several lines.
std::string RenderFound(const CampaignFinding& finding,
                        const FindingFiles& files);
// What ended it, statistics, gaps: of these the first few, and all of them with
// --show-uncovered. Of a single case, its plan.
std::string RenderCampaign(const Case& base, const CampaignReport& report,
                           const ExploreCommand& command);
// The files of a report's findings, in their order.
struct CampaignFiles {
  const std::vector<FindingFiles>& plans;
  const std::vector<WrittenCrashFinding>& crash_states;
};
// One line of JSON.
std::string CampaignToJson(const Case& base, const CampaignReport& report,
                           const CampaignFiles& files,
                           const ExploreCommand& command, uint64_t seed);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_TEXT_H_
