// Result of one case of an exploration, without the record of its run.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/explore/coverage/coverage.h"
#include "harness/explore/coverage/goals.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/record/verdict.h"

namespace gauntlet {

struct CaseReport {
  uint64_t number = 0;
  size_t planned = 0;  // faults of the plan
  std::vector<FiredFault> fired;
  GoalSet goals;
  std::vector<uint64_t> instances;  // by the order of AllInvariants()
  std::string outcome;              // "recovers", "gives up", …
  uint64_t restarts = 0;
  bool resumed = false;  // a later incarnation resumed from a checkpoint
  // True if the last fault fired after some worker had finished a step in the
  // incarnation of the same number: the recovery from earlier faults was over.
  bool recovered_before_last = false;
  double virtual_seconds = 0;
  bool ran_twice = false;
  std::vector<Finding> findings;  // empty: the case passed
  std::string skipped;  // why this world cannot run it; "" if it was run
  bool cut = false;     // aborted: its result is unknown

  // Returns true iff faults were planned and none fired: the case tested
  // nothing.
  bool fired_nothing() const { return planned > 0 && fired.empty(); }
  // Returns true iff the case passed: it was run, faults fired or none were
  // planned, and there are no findings.
  bool passed() const {
    return skipped.empty() && findings.empty() && !fired_nothing();
  }
};

enum class Runs : uint8_t { kOnce, kTwice };

// Runs the case once or twice. If the two runs have different events, the
// report's first finding is a violation of the invariant kDeterministic.
CaseReport Examine(PlanRunner& runner, const ExploreCase& one, Runs runs);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_
