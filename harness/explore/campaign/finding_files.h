// Writes the finding of an exploration as files that can be run again.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_

#include <filesystem>
#include <string>

#include "engine/status.h"
#include "harness/explore/campaign/campaign.h"

namespace gauntlet {

// Returns a name like "finding-001-trajectory-crash-at-ckpt-rename".
std::string FindingName(const CampaignFinding& finding);

// Returns the shrunken plan and its set-up as a case that expects the correct
// outcome. If the set-up has planted bugs, the case is a mutation test and
// expects the violation.
Case FindingCase(const CampaignFinding& finding);

struct FindingFiles {
  std::filesystem::path scenario;  // empty: no scenario can express the case
  std::string why_no_scenario;
};

// Writes <name>.yaml, <name>.plan.json (the shrunken plan) and
// <name>.original.json (the plan that was found) into the directory, which is
// created if it is missing. Never overwrites a file: if <name> is in use, takes
// <name>.2 and so on. `origin`: the command that finds the violation again;
// empty: unknown.
Result<FindingFiles> WriteFinding(const CampaignFinding& finding,
                                  const std::string& origin,
                                  const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_
