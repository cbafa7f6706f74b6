#include "harness/explore/plan/random_parameters.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <variant>

#include "engine/check.h"

namespace gauntlet {
namespace {

// Sets the parameter. `number` is its value; for a duration, a count of
// draw.unit; for a choice, the index.
void SetNumber(const FaultParameterInfo& parameter, int64_t number,
               FaultParameters& with) {
  const Duration duration = number * parameter.draw.unit;
  std::visit(
      OnPlace{[&](Duration FaultParameters::*at) { with.*at = duration; },
              [&](std::optional<Duration> FaultParameters::*at) {
                with.*at = duration;
              },
              [&](int FaultParameters::*at) {
                with.*at = static_cast<int>(number);
              },
              [&](uint64_t FaultParameters::*at) {
                with.*at = static_cast<uint64_t>(number);
              },
              [&](const BytesPlace& place) {
                with.*place.bytes = static_cast<uint64_t>(number);
              },
              [&](const ChoicePlace& place) {
                place.set(static_cast<size_t>(number), with);
              },
              [](const auto&) { CHECK(false, "a parameter is no number"); }},
      parameter.place);
}

}  // namespace

FileOffset AnyOffset(RandomChoices& draw) {
  if (draw.OneIn(2)) {
    return {.value = draw.Below(101), .unit = OffsetUnit::kPercent};
  }
  return {.value = draw.LogUniform(14) - 1, .unit = OffsetUnit::kBytes};
}

void RandomParameters::Fill(Fault& fault) {
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    if (parameter.set_usual != nullptr) parameter.set_usual(fault.with);
    Draw(parameter, fault);
  }
  FillTimes(fault);
}

void RandomParameters::Draw(const FaultParameterInfo& parameter, Fault& fault) {
  const ParameterDraw& draw = parameter.draw;
  if (draw.one_in > 1 && draw_.OneIn(draw.one_in) == draw.one_is_usual) return;
  int64_t number = 0;
  switch (draw.kind) {
    case DrawKind::kUsual:
      return;
    case DrawKind::kEach:
      number = OfEach(parameter);
      break;
    case DrawKind::kOf:
      number = draw_.Of(draw.values);
      break;
    case DrawKind::kLogUniform:
      number = static_cast<int64_t>(draw_.LogUniform(draw.bits));
      break;
    case DrawKind::kSpecial:
      return DrawSpecial(parameter, fault);
  }
  SetNumber(parameter, number + draw.plus, fault.with);
}

// Draws a number from `low` to draw.most (to `high` if draw.most is 0), or the
// index of a choice.
int64_t RandomParameters::OfEach(const FaultParameterInfo& parameter) {
  if (const auto* choice = std::get_if<ChoicePlace>(&parameter.place)) {
    return static_cast<int64_t>(draw_.Below(choice->names().size()));
  }
  const uint64_t most =
      parameter.draw.most > 0 ? parameter.draw.most : parameter.high;
  return static_cast<int64_t>(draw_.Between(parameter.low, most));
}

void RandomParameters::DrawSpecial(const FaultParameterInfo& parameter,
                                   Fault& fault) {
  FaultParameters& with = fault.with;
  std::visit(
      OnPlace{[&](FileOffset FaultParameters::*offset) {
                with.*offset = AnyOffset(draw_);
              },
              // At least one block is lost.
              [&](const BlocksPlace& place) {
                with.*place.mask =
                    draw_.Below((uint64_t{1} << with.blocks) - 1);
              },
              [&](const GroupsPlace& place) { with.*place.groups = Groups(); },
              [&](const ChoicePlace&) { with.error = Error(fault.site.point); },
              [](const auto&) { CHECK(false, "no code draws it"); }},
      parameter.place);
}

// Draws an error number. ENOENT and EEXIST are drawn only at points before a
// storage operation. Half of the errors at loads are EIO, because a load
// retries after EIO.
int RandomParameters::Error(Point point) {
  const StorageOperation next = InfoOf(point).next;
  if (next == StorageOperation::kRead && draw_.OneIn(2)) return EIO;
  std::vector<int> errors;
  for (const FaultErrorInfo& info : AllFaultErrors()) {
    const bool of_names =
        info.code == Code::kNotFound || info.code == Code::kAlreadyExists;
    if (of_names && next == StorageOperation::kNone) continue;
    errors.push_back(info.number);
  }
  return draw_.Of(errors);
}

// Returns two groups that together have every worker; no groups if one would be
// empty.
std::vector<std::vector<int>> RandomParameters::Groups() {
  std::vector<std::vector<int>> groups(2);
  for (int worker = 0; worker < space_.workers; ++worker) {
    groups[draw_.Below(2)].push_back(worker);
  }
  if (groups[0].empty() || groups[1].empty()) groups.clear();
  return groups;
}

void RandomParameters::FillTimes(Fault& fault) {
  if (!InfoOf(fault.kind).effects.may_repeat || !draw_.OneIn(12)) return;
  fault.with.times = FaultTimes::kAlways;
  fault.with.hits = 1;
  if (draw_.OneIn(2)) {
    fault.with.until_step = draw_.Below(space_.steps + 1);
  }
}

}  // namespace gauntlet
