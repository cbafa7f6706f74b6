// Lists the parts that an exploration did not try, with the reasons.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_NOT_TRIED_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_NOT_TRIED_H_

#include <vector>

#include "harness/cli/explore/explore_report.h"

namespace gauntlet {

std::vector<NotTried> NotTriedIn(const Exploration& exploration,
                                 const CampaignReport& report);
std::vector<NotTried> NotTriedIn(const Exploration& exploration,
                                 const CrashStateReport& report);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_NOT_TRIED_H_
