// What an exploration found, as files that can be run again.
#ifndef GAUNTLET_HARNESS_EXPLORE_FINDING_FILES_H_
#define GAUNTLET_HARNESS_EXPLORE_FINDING_FILES_H_

#include <filesystem>
#include <string>

#include "engine/status.h"
#include "harness/explore/campaign.h"

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

// Leaves <name>.yaml and, beside it, the plan as it was found,
// <name>.original.json, and the one that is left of it, <name>.plan.json, in
// the directory, which is made if need be.
Result<FindingFiles> WriteFinding(const CampaignFinding& finding,
                                  const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_FINDING_FILES_H_
