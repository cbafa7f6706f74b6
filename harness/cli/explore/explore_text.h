// Text on the progress and the result of an exploration.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_TEXT_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_TEXT_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/explore/crash_states_text.h"
#include "harness/cli/flags/commands.h"
#include "harness/explore/campaign/campaign.h"
#include "harness/explore/campaign/finding_files.h"

namespace gauntlet {

// Returns "done", "stopped: time budget" or "interrupted".
std::string_view CampaignEndName(const CampaignReport& report);

// Returns "explore-base: 4 workers, 24 steps; mode random, up to 3 faults in a
// plan, …", and the limits of the exploration that replace those of the base.
std::string RenderExploreHead(const Case& base, const ExploreCommand& command,
                              uint64_t seed);
// As RenderExploreHead, for --mode crash-states.
std::string RenderCrashStatesHead(const Case& base,
                                  const ExploreCommand& command);
// Returns several lines: the first is "FOUND  case 1377: …", the second the
// cause.
std::string RenderFound(const CampaignFinding& finding,
                        const FindingFiles& files);
// Returns how the exploration ended, statistics and gaps: the first few, or all
// with --show-uncovered. For a single case, returns its plan.
std::string RenderCampaign(const Case& base, const CampaignReport& report,
                           const ExploreCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_TEXT_H_
