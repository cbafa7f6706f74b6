#include "chaos/inject/plan/plan.h"
#include "engine/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzPlan(std::string_view input) {
  const Result<FaultPlan> plan = PlanFromJson(input);
  if (!plan.ok()) {
    CHECK(plan.status().code() == Code::kInvalidArgument,
          plan.status().ToString());
    return CheckErrorLine(plan.status().message());
  }
  CHECK(Validate(*plan).ok(), Validate(*plan).ToString());
  const std::string written = PlanToJson(*plan);
  const Result<FaultPlan> again = PlanFromJson(written);
  CHECK(again.ok(), again.status().ToString());
  CHECK(*again == *plan, written);
  CheckSameText(written, PlanToJson(*again), "plan");
}

std::vector<std::string> PlanSeeds() {
  FaultPlan plan = {.seed = 7};
  for (const FaultKindInfo& info : AllFaultKinds()) {
    plan.faults.push_back({.id = std::string(info.name),
                           .site = {.worker = kChief,
                                    .step = 3,
                                    .point = Point::kShardWrite,
                                    .occurrence = 2},
                           .kind = info.kind});
  }
  std::vector<std::string> seeds = {PlanToJson({.seed = 1})};
  // Drops kinds that need more than a site, as they are not valid without
  // parameters.
  std::erase_if(plan.faults, [](const Fault& fault) {
    return !Validate(FaultPlan{.faults = {fault}}).ok();
  });
  CHECK(plan.faults.size() > 5, "most kinds need nothing but a place");
  for (const PlantedBugInfo& bug : AllPlantedBugs()) {
    plan.bugs.push_back(bug.bug);
  }
  plan.faults[1].after = plan.faults[0].id;
  plan.faults[2].site.offset = FileOffset{50, OffsetUnit::kPercent};
  seeds.push_back(PlanToJson(plan));
  return seeds;
}

}  // namespace gauntlet
