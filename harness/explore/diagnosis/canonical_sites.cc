#include "harness/explore/diagnosis/canonical_sites.h"

#include <algorithm>

#include "harness/explore/trial/explore_case.h"

namespace gauntlet {
namespace {

constexpr uint64_t kParts = 4;

Fault Moved(const Fault& fault, const Fault& plain) {
  Fault moved = plain;
  moved.id = fault.id;
  moved.after = fault.after;
  moved.site.incarnation = fault.site.incarnation;
  return moved;
}

}  // namespace

std::vector<Fault> CanonicalFaults(const Case& setup) {
  const uint64_t steps = SpaceOf(setup).steps;
  std::vector<Fault> plain;
  for (const FaultKind kind : {FaultKind::kCrash, FaultKind::kPowerLoss}) {
    for (uint64_t part = 0; part < kParts; ++part) {
      const uint64_t step = steps * part / kParts + 1;
      plain.push_back(
          {.id = "plain",
           .site = {.worker = 0, .step = step, .point = Point::kStepBegin},
           .kind = kind});
    }
  }
  return plain;
}

ShrunkPlan MoveToCanonicalSites(
    const FaultPlan& plan, const std::vector<Fault>& plain,
    const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& same) {
  const Time begin = options.Now();
  ShrunkPlan moved = {.plan = plan};
  for (size_t i = 0; i < plan.faults.size(); ++i) {
    for (const Fault& place : plain) {
      FaultPlan candidate = moved.plan;
      candidate.faults[i] = Moved(moved.plan.faults[i], place);
      if (candidate == moved.plan) break;
      if (!Validate(candidate).ok()) continue;
      if (options.MustEnd(begin, moved.tries)) {
        moved.finished = false;
        return moved;
      }
      ++moved.tries;
      if (!same(candidate)) continue;
      moved.plan = std::move(candidate);
      break;
    }
  }
  if (moved.plan == plan) return moved;
  ShrunkPlan shrunk = ShrinkPlan(moved.plan, options.After(begin), same);
  shrunk.tries += moved.tries;
  return shrunk;
}

}  // namespace gauntlet
