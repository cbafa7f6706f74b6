// Plans of all kinds and parameters: a plan that is written reads back equal.
#include <set>

#include "chaos/inject/plan/plan.h"
#include "tests/chaos/inject/plan/plan_generator.h"
#include "tests/property/property.h"

namespace gauntlet {
namespace {

std::string Wrong(const FaultPlan& plan) {
  if (const Status status = Validate(plan); !status.ok()) {
    return "not a valid plan: " + status.message();
  }
  const std::string text = PlanToJson(plan);
  const Result<FaultPlan> back = PlanFromJson(text);
  if (!back.ok()) return "refused: " + back.status().message();
  if (*back != plan) return "it came back as another plan";
  return PlanToJson(*back) == text ? "" : "it came back as other text";
}

TEST(FaultPlanProperty, ComesBackAsItWasWritten) {
  CheckProperty<FaultPlan>({.name = "fault_plan",
                            .any = ArbitraryPlan(),
                            .to_text = PlanToJson,
                            .from_text = PlanFromJson,
                            .wrong = Wrong});
}

// The property above does not cover kinds that the generator never makes.
TEST(FaultPlanProperty, EveryKindIsMade) {
  std::set<FaultKind> made;
  for (uint64_t number = 0; number < 2000; ++number) {
    made.insert(
        ArbitraryFault()(rc::Random(number), rc::kNominalSize).value().kind);
  }
  EXPECT_EQ(made.size(), AllFaultKinds().size());
}

}  // namespace
}  // namespace gauntlet
