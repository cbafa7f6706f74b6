#include "harness/oracle/moment.h"

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

// Of "step-000000006-callbacks_due-g2" what comes before the generation.
std::string_view StemOf(std::string_view name) {
  return name.substr(0, name.rfind("-g"));
}

RecordPhase PhaseOfName(std::string_view name) {
  for (const RecordPhase phase :
       {RecordPhase::kEvaluationDue, RecordPhase::kCallbacksDue}) {
    if (StemOf(name).ends_with(RecordPhaseName(phase))) return phase;
  }
  return RecordPhase::kInEpoch;
}

}  // namespace

std::strong_ordering Moment::operator<=>(const Moment& other) const {
  if (step != other.step) return step <=> other.step;
  return RankOf(phase) <=> RankOf(other.phase);
}

std::string ToText(const Moment& moment) {
  if (moment.phase == RecordPhase::kInEpoch) return std::to_string(moment.step);
  return fmt::format("{} ({})", moment.step, RecordPhaseName(moment.phase));
}

void MomentOfLife::Begin(const RecordEvent& save) {
  begun_[save.path] = Of(save);
}

Moment MomentOfLife::Of(const RecordEvent& event) const {
  const bool ends_a_save = event.kind == RecordKind::kSaveAcknowledged ||
                           event.kind == RecordKind::kSaveFailed;
  if (ends_a_save) {
    const auto begun = begun_.find(event.path);
    if (begun != begun_.end()) return begun->second;
  }
  return event.step == now_.step ? now_ : Moment{.step = event.step};
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

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

void CheckpointNames::Say(std::string_view path, const Written& written) {
  const std::string_view name = BaseName(path);
  if (!StepOfPath(name)) return;
  names_[name] = written;
  stems_[StemOf(name)] = written;
}

void CheckpointNames::Verified(std::string_view path, uint64_t era) {
  if (const auto found = Find(path)) {
    Say(path, {.moment = found->moment, .era = era});
  }
}

std::optional<CheckpointNames::Written> CheckpointNames::Find(
    std::string_view path) const {
  const std::string_view name = BaseName(path);
  const std::optional<uint64_t> step = StepOfPath(name);
  if (!step) return std::nullopt;
  if (const auto found = names_.find(name); found != names_.end()) {
    return found->second;
  }
  if (const auto found = stems_.find(StemOf(name)); found != stems_.end()) {
    return found->second;
  }
  return Written{.moment = {.step = *step, .phase = PhaseOfName(name)}};
}

}  // namespace gauntlet
