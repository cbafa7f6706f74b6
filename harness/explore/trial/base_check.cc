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
    const PlanRun run = runner.Try({.seed = base.seed});
    if (run.cut) return Unavailable("interrupted");
    if (!run.skipped.empty()) return BaseCheck{.skipped = run.skipped};
    if (run.findings.empty()) continue;
    const Finding& first = run.findings.front();
    return BaseCheck{.skipped = "",
                     .failure = fmt::format("{}, without any fault: {}: {}",
                                            DescribeSetup(setup, sound),
                                            first.invariant, first.message)};
  }
  return BaseCheck{};
}

}  // namespace gauntlet
