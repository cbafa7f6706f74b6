// Gaps of an exploration: fault points and fault kinds that never fired,
// coverage goals that no case reached, and invariants that had nothing to
// check.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/campaign/campaign.h"

namespace gauntlet {

// Return the fault points at which no fault fired, the fault kinds that never
// fired, and the invariants that had nothing to check. Each list is in the
// order of the catalogue.
std::vector<std::string_view> MissedPoints(const CampaignReport& report);
std::vector<std::string_view> MissedKinds(const CampaignReport& report);
std::vector<std::string_view> IdleInvariants(const CampaignReport& report);

// Return the fault points and the fault kinds that the exploration never
// chooses, because report.space lacks them, in the order of the catalogue.
std::vector<std::string_view> ExcludedPoints(const CampaignReport& report);
std::vector<std::string_view> ExcludedKinds(const CampaignReport& report);

// A place (a fault point and a phase) at which some fault kinds fired and
// others did not.
struct PlaceGap {
  Point point = {};
  FaultPhase phase = {};
  std::vector<std::string_view> missed;  // fault kinds that did not fire
};
std::vector<PlaceGap> GapsOf(const CampaignReport& report);

// Returns the coverage goals of this rarity that no case reached.
std::vector<std::string_view> MissedGoals(const CampaignReport& report,
                                          GoalRarity rarity);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_
