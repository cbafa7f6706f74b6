#include "harness/explore/plan/stale_worker_plan.h"

#include <algorithm>
#include <chrono>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

// Limits on the time for which the chief hangs. At the earliest it continues
// just after the launcher has given up on it, which takes ten seconds. At the
// latest it continues while delayed successors still run.
constexpr uint64_t kShortestMs = 10'100;
constexpr uint64_t kLongestMs = 14'000;
constexpr Duration kHoldUp = std::chrono::seconds(8);

// Returns how often the chief of an undisturbed run reaches the point;
// UINT64_MAX: not known.
uint64_t HitsOfChief(const PlanSpace& space, Point point) {
  return space.reach == nullptr ? UINT64_MAX : space.reach->Of(0, point).size();
}

std::vector<Point> PlacesIn(const PlanSpace& space) {
  std::vector<Point> places;
  for (const PointInfo& info : AllPoints()) {
    if (info.is_critical_when_stale && space.Has(info.point) &&
        HitsOfChief(space, info.point) > 0) {
      places.push_back(info.point);
    }
  }
  return places;
}

// Returns a fault that makes a successor hang after its first steps. The other
// successors wait for this one.
Fault HoldUp(const PlanSpace& space, RandomChoices& draw) {
  Fault wait = {.id = "fault-3",
                .site = {.worker = kAnyWorker,
                         .incarnation = 2,
                         .point = Point::kStepBegin,
                         .occurrence = draw.LogUniform(2)},
                .kind = FaultKind::kHang,
                .after = "fault-2"};
  wait.with.duration = kHoldUp;
  if (draw.OneIn(2)) {
    wait.site.worker =
        static_cast<int>(draw.Below(static_cast<uint64_t>(space.workers)));
  }
  return wait;
}

// Returns true iff the chief at this point has committed a save and is about to
// remove an old checkpoint.
bool IsInRetention(Point point) {
  const RunPart part = InfoOf(point).part;
  return part == RunPart::kStateFile || part == RunPart::kRetirement;
}

// Returns a fault that damages the newest checkpoint when the successor loads
// it. The successor then resumes from an older checkpoint, which the stale
// chief was about to remove.
Fault DamageOfTheNewest() {
  return {.id = "fault-3",
          .site = {.worker = 0, .incarnation = 2, .point = Point::kLoadRead},
          .kind = FaultKind::kBitFlip};
}

}  // namespace

std::vector<Fault> StaleWorkerFaults(const PlanSpace& space, int count,
                                     RandomChoices draw) {
  const std::vector<Point> places = PlacesIn(space);
  if (count < 2 || places.empty() || !space.Has(FaultKind::kPartition) ||
      !space.Has(FaultKind::kHang) || draw.OneIn(2)) {
    return {};
  }
  FaultSite site = {
      .worker = 0, .point = draw.Of(places), .occurrence = draw.LogUniform(1)};
  site.occurrence = std::min(site.occurrence, HitsOfChief(space, site.point));
  const uint64_t ms = draw.Between(kShortestMs, kLongestMs);
  Fault cut = {.id = "fault-1", .site = site, .kind = FaultKind::kPartition};
  Fault stall = {.id = "fault-2", .site = site, .kind = FaultKind::kHang};
  stall.with.duration = milliseconds(static_cast<int64_t>(ms));
  std::vector<Fault> faults = {cut, stall};
  const bool may_damage = IsInRetention(site.point) &&
                          space.Has(FaultKind::kBitFlip) &&
                          space.Has(Point::kLoadRead);
  if (count > 2 && may_damage && draw.OneIn(2)) {
    faults.push_back(DamageOfTheNewest());
  } else if (count > 2 && space.Has(Point::kStepBegin) && !draw.OneIn(4)) {
    faults.push_back(HoldUp(space, draw));
  }
  return faults;
}

}  // namespace gauntlet
