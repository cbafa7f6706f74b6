// Result of one case of an exploration, without the record of its run.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/explore/coverage/coverage.h"
#include "harness/explore/coverage/marks.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/record/verdict.h"

namespace gauntlet {

struct CaseReport {
  uint64_t number = 0;
  size_t planned = 0;  // faults of the plan
  std::vector<FiredFault> fired;
  MarkSet marks;
  std::vector<uint64_t> instances;  // by the order of AllInvariants()
  std::string outcome;              // "recovers", "gives up", …
  uint64_t restarts = 0;
  bool resumed = false;  // a later life went on from a checkpoint
  // A step was done in the life of the last fault before it fired: that life
  // had recovered.
  bool recovered_before_last = false;
  double virtual_seconds = 0;
  bool ran_twice = false;
  std::vector<Finding> wrong;  // empty: it held
  std::string skipped;         // why this world cannot do it; "": it was run
  bool cut = false;            // given up: nothing of it is known

  // Faults were to fire and none did: nothing was tried.
  bool fired_nothing() const { return planned > 0 && fired.empty(); }
  // Faults fired, or none were to, and nothing is wrong.
  bool held() const {
    return skipped.empty() && wrong.empty() && !fired_nothing();
  }
};

enum class Runs : uint8_t { kOnce, kTwice };

// Runs the case. Run twice, different events are a finding of the invariant
// "deterministic", before all others.
CaseReport Examine(PlanRunner& runner, const ExploreCase& one, Runs runs);

inline constexpr std::string_view kDeterministic = "deterministic";

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_REPORT_H_
