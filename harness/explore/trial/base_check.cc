#include "harness/explore/trial/base_check.h"

#include <vector>

#include "harness/explore/trial/explore_case.h"
#include "harness/explore/trial/plan_runner.h"
#include <fmt/format.h>

namespace gauntlet {

Result<BaseCheck> CheckBase(const Case& base, References& references) {
  Case sound = base;
  sound.plan.faults.clear();
  sound.plan.bugs.clear();
  std::vector<Case> setups = SetupsOf(sound);
  setups.insert(setups.begin(), sound);
  for (const Case& setup : setups) {
    ASSIGN_OR_RETURN(PlanRunner runner, PlanRunner::Make(setup, references));
    runner.CutBy(references.interrupted());
    const PlanRun trial = runner.Try({.seed = base.seed});
    if (trial.cut) return Unavailable("interrupted");
    if (!trial.skipped.empty()) return BaseCheck{.skipped = trial.skipped};
    if (trial.wrong.empty()) continue;
    const Finding& first = trial.wrong.front();
    return BaseCheck{.skipped = "",
                     .wrong = fmt::format("{}, without any fault: {}: {}",
                                          DescribeSetup(setup, sound),
                                          first.invariant, first.message)};
  }
  return BaseCheck{};
}

}  // namespace gauntlet
