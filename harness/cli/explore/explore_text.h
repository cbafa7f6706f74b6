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

// Returns "3 failed (2 causes)"; "0 failed" if no case failed.
std::string FailedCasesText(const CampaignReport& report);

// Returns "explore-base: 4 workers, 24 steps; mode random, up to 3 faults in a
// plan, …". If the exploration replaces limits of the base, a second line lists
// them.
std::string RenderExploreHead(const Case& base, const ExploreCommand& command,
                              uint64_t seed);
// Returns the corresponding lines for --mode crash-states.
std::string RenderCrashStatesHead(const Case& base,
                                  const ExploreCommand& command);
// Returns several lines: the first is "FOUND  case 1377: …", the second the
// cause.
std::string RenderFound(const CampaignFinding& finding,
                        const FindingFiles& files);
// Returns text on the end of the exploration, statistics and gaps. It lists the
// first few gaps, or all gaps with --show-uncovered. For a single case, it has
// the set-up, faults and outcome of the case instead of statistics and gaps.
std::string RenderCampaign(const Case& base, const CampaignReport& report,
                           const ExploreCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_TEXT_H_
