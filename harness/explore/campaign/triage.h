// Triage: finds the cause of each failure of a case.
//
// For each violation that no known finding explains, shrinks the plan and moves
// the faults of the plan to the plainest places (CanonicalFaults) that show the
// same violation. Then compares the result with the known findings. If the
// finding is new, searches for the smallest set-up that still shows it.
//
// Two plans count as having one cause if the same value is the first that
// differs from the reference run. If no value differs, they count as having one
// cause if they show the same violations. So a second bug with the same first
// difference or the same violations stays hidden until the first bug is fixed.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_TRIAGE_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_TRIAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/explore/campaign/campaign_finding.h"
#include "harness/explore/campaign/known_causes.h"
#include "harness/explore/trial/case_pool.h"
#include "harness/explore/trial/case_report.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/run/reference.h"

namespace gauntlet {

struct TriageOptions {
  ShrinkOptions shrink;   // the budget is the total for one finding
  size_t stop_after = 0;  // findings; 0: never
};

class Triage {
 public:
  // `setups` and `references` must outlive this object.
  Triage(const std::vector<Case>& setups, References& references,
         const TriageOptions& options);

  // Investigates the violations of the case in order, up to the first that a
  // second run does not show again. Calls `found` for each new finding. Returns
  // the number of violations not shown again (0 or 1).
  uint64_t Add(const ExploreCase& one, const CaseReport& report,
               const std::function<void(const CampaignFinding&)>& found);

  const std::vector<CampaignFinding>& findings() const { return findings_; }
  std::vector<CampaignFinding> TakeFindings() { return std::move(findings_); }
  bool enough() const {
    return options_.stop_after > 0 && findings_.size() >= options_.stop_after;
  }

 private:
  struct Shrunken {
    CampaignFinding finding;
    Cause cause;
    // `cause`, once with the faults of the original plan, and once with those
    // of the shrunken plan before its faults were moved.
    std::vector<Cause> on_the_way;
  };

  // Returns the index of the finding that this violation repeats, or of a new
  // one.
  size_t FindingOf(const ExploreCase& one, const Violation& violation);
  size_t AddFinding(CampaignFinding finding);
  Shrunken ShrinkViolation(const ExploreCase& one, const Violation& violation,
                           const PlanRun& run);
  Shrunken ShrinkDivergence(const ExploreCase& one);
  // `begin`: time at which shrinking of the finding began; its time limit
  // counts from then.
  void ShrinkSetupOf(Shrunken& shrunken, const Violation& violation,
                     Time begin);
  CampaignFinding Unshrunken(const ExploreCase& one) const;
  CampaignFinding NotAgain(const ExploreCase& one, const PlanRun& run) const;
  Cause CauseOf(const PlanRunner& runner, const FaultPlan& plan,
                const PlanRun& run);
  // As CauseOf, but cached by plan, because many plans become the same plan
  // when their faults are moved.
  const Cause& CauseAt(size_t setup, const FaultPlan& plan);
  // Returns the faults of known findings with the same violation, followed by
  // the plainest faults (CanonicalFaults).
  std::vector<Fault> CanonicalFaultsFor(const Case& setup,
                                        const Violation& violation) const;
  // Returns the case with the first set-up if it shows the violation there too;
  // else the case unchanged. So a violation in several set-ups becomes one
  // finding.
  ExploreCase InThePlainestSetup(const ExploreCase& one,
                                 const Violation& violation);
  PlanRunner& RunnerOf(const ExploreCase& one);

  const std::vector<Case>& setups_;
  References& references_;
  const TriageOptions options_;
  PlanRunners runners_;
  KnownCauses known_;
  std::map<std::pair<size_t, std::string>, Cause> causes_;  // by plan
  std::vector<CampaignFinding> findings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_TRIAGE_H_
