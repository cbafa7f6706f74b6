// Gaps of an exploration: points, kinds, places and coverage goals that it
// never reached, and invariants that had nothing to check.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/campaign/campaign.h"

namespace gauntlet {

// Return the points at which no fault fired, the kinds of which no fault fired,
// and the invariants that had nothing to check. All names are in the order of
// the catalogue.
std::vector<std::string_view> MissedPoints(const CampaignReport& report);
std::vector<std::string_view> MissedKinds(const CampaignReport& report);
std::vector<std::string_view> IdleInvariants(const CampaignReport& report);

// Return the points and the fault kinds that the space of the exploration
// lacks, in the order of the catalogue.
std::vector<std::string_view> ExcludedPoints(const CampaignReport& report);
std::vector<std::string_view> ExcludedKinds(const CampaignReport& report);

// Kinds that never fired at a place where another kind did.
struct PlaceGap {
  Point point = {};
  FaultPhase phase = {};
  std::vector<std::string_view> missed;  // fault kinds
};
std::vector<PlaceGap> GapsOf(const CampaignReport& report);

// Returns the coverage goals of this rarity that no case reached.
std::vector<std::string_view> MissedGoals(const CampaignReport& report,
                                          GoalRarity rarity);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_GAPS_H_
