#include "harness/cli/explore/explore_gaps.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "engine/world/fault_point.h"
#include "harness/record/invariants.h"

namespace gauntlet {
namespace {

// Returns the names of the elements of `all` that are not in `met`.
template <typename T>
std::vector<std::string_view> Missed(const std::vector<T>& all,
                                     const std::set<T>& met,
                                     std::string_view (*name)(T)) {
  std::vector<std::string_view> missed;
  for (const T one : all) {
    if (!met.contains(one)) missed.push_back(name(one));
  }
  return missed;
}

// Returns the names of the infos in `all` whose value is not in `space`.
template <typename Info, typename T>
std::vector<std::string_view> NamesOutside(const std::vector<T>& space,
                                           std::span<const Info> all,
                                           T Info::*value) {
  std::vector<std::string_view> outside;
  for (const Info& info : all) {
    if (std::ranges::find(space, info.*value) == space.end()) {
      outside.push_back(info.name);
    }
  }
  return outside;
}

}  // namespace

std::vector<std::string_view> MissedPoints(const CampaignReport& report) {
  return Missed(report.space.points, report.coverage.PointsHit(), PointName);
}

std::vector<std::string_view> MissedKinds(const CampaignReport& report) {
  return Missed(report.space.kinds, report.coverage.KindsFired(),
                FaultKindName);
}

std::vector<std::string_view> ExcludedPoints(const CampaignReport& report) {
  return NamesOutside(report.space.points, AllPoints(), &PointInfo::point);
}

std::vector<std::string_view> ExcludedKinds(const CampaignReport& report) {
  return NamesOutside(report.space.kinds, AllFaultKinds(),
                      &FaultKindInfo::kind);
}

std::vector<std::string_view> IdleInvariants(const CampaignReport& report) {
  std::vector<std::string_view> idle;
  const auto all = AllInvariants();
  for (size_t i = 0; i < all.size(); ++i) {
    if (report.coverage.instances()[i] == 0) idle.push_back(all[i].name);
  }
  return idle;
}

std::vector<PlaceGap> GapsOf(const CampaignReport& report) {
  std::map<std::pair<Point, FaultPhase>, std::set<FaultKind>> fired;
  for (const auto& [key, count] : report.coverage.fired()) {
    const auto& [point, kind, phase] = key;
    fired[{point, phase}].insert(kind);
  }
  std::vector<PlaceGap> gaps;
  for (const auto& [place, kinds] : fired) {
    PlaceGap gap = {.point = place.first,
                    .phase = place.second,
                    .missed = Missed(report.space.kinds, kinds, FaultKindName)};
    if (!gap.missed.empty()) gaps.push_back(std::move(gap));
  }
  return gaps;
}

std::vector<std::string_view> MissedGoals(const CampaignReport& report,
                                          GoalRarity rarity) {
  std::vector<std::string_view> missed;
  const auto all = AllGoals();
  for (size_t i = 0; i < all.size(); ++i) {
    if (report.goals[i] == 0 && all[i].rarity == rarity) {
      missed.push_back(all[i].name);
    }
  }
  return missed;
}

}  // namespace gauntlet
