// One finding of an exploration, shown by one case or by many.
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
  Finding what;       // finding of the shrunken plan's run
  // First value that differs from the reference run, in one sentence. "" if no
  // value differs, or if a repetition of the run shows no difference.
  std::string cause;
  std::vector<StateDifference> differences;  // the differing values
  std::vector<Violation> symptoms;           // all violations of `record`
  uint64_t case_number = 0;                  // first case that showed it
  uint64_t cases = 1;                        // number of cases that showed it
  Case setup;                                // set-up, without the plan
  FaultPlan original;
  FaultPlan plan;  // shrunken
  int tries = 0;   // number of runs that shrinking took
  // False if a limit of tries or time, or an interruption, ended the shrinking
  // early.
  bool shrunk_to_the_end = true;
  Record record;  // run of the shrunken plan
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_FINDING_H_
