#include "harness/oracle/model/reference.h"

#include "engine/epoch_text.h"
#include <fmt/format.h>

namespace gauntlet {

std::string ToText(const DataPosition& place) {
  return fmt::format("{}, sample {}", EpochName(place.epoch), place.position);
}

// REQUIRES: the entries are in the order of the run, so their steps ascend.
Reference::Reference(const GoldenTrajectory& golden)
    : entries_(golden.entries) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto [at, is_first] =
        of_step_.try_emplace(entries_[i].step, Range{i, i + 1});
    if (!is_first) at->second.end = i + 1;
  }
}

template <typename Fits>
std::optional<size_t> Reference::FindLast(uint64_t step,
                                          const Fits& fits) const {
  const auto range = of_step_.find(step);
  if (range == of_step_.end()) return std::nullopt;
  for (size_t i = range->second.end; i-- > range->second.begin;) {
    if (fits(entries_[i])) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Reference::Find(RecordKind kind,
                                      const TrainingPosition& position) const {
  return FindLast(position.step, [&](const GoldenEntry& entry) {
    return entry.kind == kind && entry.phase == position.phase;
  });
}

const GoldenEntry* Reference::FindOfStep(RecordKind kind, uint64_t step) const {
  const auto index = FindLast(
      step, [&](const GoldenEntry& entry) { return entry.kind == kind; });
  return index ? &entries_[*index] : nullptr;
}

std::optional<size_t> Reference::StateAt(
    const TrainingPosition& position) const {
  return FindLast(position.step, [&](const GoldenEntry& entry) {
    return entry.phase == position.phase;
  });
}

DataPosition Reference::PlaceAfter(size_t index) const {
  const GoldenEntry& entry = entries_[index];
  switch (entry.kind) {
    case RecordKind::kEpochEnd:
      return {.epoch = entry.epoch + 1};
    case RecordKind::kEvaluated:
      // An evaluation does not move the position.
      while (index > 0 && entries_[index].kind == RecordKind::kEvaluated) {
        --index;
      }
      return entries_[index].kind == RecordKind::kEvaluated ? DataPosition()
                                                            : PlaceAfter(index);
    case RecordKind::kStep:
      return {.epoch = entry.epoch,
              .position = entry.position + entry.samples.size()};
    default:
      return {};
  }
}

}  // namespace gauntlet
