#include "harness/run/failure/violated_checks.h"

namespace gauntlet {

std::vector<std::string> ViolatedIn(const Verdict& verdict) {
  std::vector<std::string> names;
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations > 0 &&
        report.invariant != InvariantName(Invariant::kFaultFired)) {
      names.push_back(report.invariant);
    }
  }
  return names;
}

bool IsOnlyViolated(const Verdict& verdict, Invariant invariant) {
  const std::vector<std::string> names = ViolatedIn(verdict);
  return names.size() == 1 && names.front() == InvariantName(invariant);
}

}  // namespace gauntlet
