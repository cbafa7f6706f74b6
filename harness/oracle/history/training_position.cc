#include "harness/oracle/history/training_position.h"

#include <charconv>

#include <fmt/format.h>

namespace gauntlet {
namespace {

int RankOf(RecordPhase phase) {
  switch (phase) {
    case RecordPhase::kEvaluationDue:
      return 0;
    case RecordPhase::kCallbacksDue:
      return 1;
    case RecordPhase::kInEpoch:
      return 2;
  }
  return 2;
}

}  // namespace

std::string_view PhaseText(RecordPhase phase) {
  switch (phase) {
    case RecordPhase::kEvaluationDue:
      return "before the evaluation";
    case RecordPhase::kCallbacksDue:
      return "before the callbacks";
    case RecordPhase::kInEpoch:
      return "";
  }
  return "";
}

std::strong_ordering TrainingPosition::operator<=>(
    const TrainingPosition& other) const {
  if (step != other.step) return step <=> other.step;
  return RankOf(phase) <=> RankOf(other.phase);
}

std::string ToText(const TrainingPosition& position) {
  if (position.phase == RecordPhase::kInEpoch)
    return std::to_string(position.step);
  return fmt::format("{} ({})", position.step, PhaseText(position.phase));
}

std::optional<uint64_t> StepOfPath(std::string_view path) {
  std::string_view name = BaseName(path);
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  uint64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end == name.data()) return std::nullopt;
  return step;
}

}  // namespace gauntlet
