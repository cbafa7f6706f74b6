#include "harness/run/failure/remedy/fault_step.h"

#include <optional>

#include "engine/world/fault_point.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "12", "12 or earlier" or "9 or later"; "" for several steps with both
// bounds.
std::string OneBound(const StepRange& steps) {
  if (steps.first == 0) return fmt::format("{} or earlier", steps.last);
  if (steps.last == 0) return fmt::format("{} or later", steps.first);
  return steps.first == steps.last ? fmt::to_string(steps.first) : "";
}

// Returns true iff each step of the training reaches the point of the fault.
bool IsReachedInEachStep(const RecordFault& fault) {
  if (fault.point.empty()) return true;
  const std::optional<Point> point = FindPoint(fault.point);
  return point && InfoOf(*point).rate == HitRate::kEachStep;
}

}  // namespace

bool HasOwnStep(const RecordFault& fault) {
  return fault.step && !fault.in_save && IsReachedInEachStep(fault);
}

std::string StepAdvice(const RecordFault& fault, const StepRange& steps) {
  const std::string one = OneBound(steps);
  const std::string range =
      one.empty() ? fmt::format("from {} to {}", steps.first, steps.last) : one;
  return HasOwnStep(fault)
             ? fmt::format("set the step of fault {} ({}) to {}{}", fault.id,
                           *fault.step, one.empty() ? "a value " : "", range)
             : fmt::format("let fault {} fire in {}step {}", fault.id,
                           one.empty() ? "a " : "", range);
}

}  // namespace gauntlet
