// Writes the finding of an exploration as files that can be run again.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_

#include <filesystem>
#include <string>

#include "engine/status.h"
#include "harness/explore/campaign/campaign.h"

namespace gauntlet {

// "finding-001-trajectory-crash-at-ckpt-rename".
std::string FindingName(const CampaignFinding& finding);

// The shrunken plan on its set-up, as a case that expects what was owed. With
// planted bugs it is a canary, whose breach is what is expected.
Case FindingCase(const CampaignFinding& finding);

struct FindingFiles {
  std::filesystem::path scenario;  // empty: no scenario can say it
  std::string why_no_scenario;
};

// Leaves <name>.yaml and, beside it, the plan that is left, <name>.plan.json,
// and the one that was found, <name>.original.json, in the directory, which is
// made if need be. Over no other file: where one has the name, <name>.2 and so
// on is taken. `origin`: the command that finds it once more; empty: not known.
Result<FindingFiles> WriteFinding(const CampaignFinding& finding,
                                  const std::string& origin,
                                  const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_FINDING_FILES_H_
