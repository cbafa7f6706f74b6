// One thing that is wrong, found by one case of an exploration or by many.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_FINDING_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_FINDING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/diagnosis/shrink.h"
#include "harness/record/record.h"
#include "harness/record/result/difference.h"
#include "harness/record/verdict.h"
#include "harness/scenario/scenario.h"

namespace gauntlet {

struct CampaignFinding {
  size_t number = 0;  // from 1 on
  Finding what;       // broken by the shrunken plan
  // First value that differs from the reference run, in one sentence. "": none
  // differs, or a second run does not show the difference.
  std::string cause;
  std::vector<StateDifference> differences;  // the values behind it
  std::vector<Violation> symptoms;           // all that this plan breaks
  uint64_t case_number = 0;                  // the first that found it
  uint64_t cases = 1;                        // how many did
  Case setup;                                // without the plan
  FaultPlan original;
  FaultPlan plan;  // shrunken
  int tries = 0;   // it took
  // No limit of tries or time and no interruption cut the shrinking short.
  bool shrunk_to_the_end = true;
  Record record;  // run of the shrunken plan
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_FINDING_H_
