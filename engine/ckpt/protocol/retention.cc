#include "engine/ckpt/protocol/retention.h"

#include <algorithm>

namespace gauntlet {
namespace {

int64_t LastPermanentAt(std::span<const CommittedCheckpoint> lineage,
                        int64_t created_at) {
  const auto newest =
      std::find_if(lineage.rbegin(), lineage.rend(),
                   [](const auto& checkpoint) { return checkpoint.mark; });
  if (newest == lineage.rend()) return created_at;
  return IsPermanent(*newest) ? newest->written_at
                              : newest->mark->last_permanent_at;
}

std::optional<size_t> NewestFinite(
    std::span<const CommittedCheckpoint> lineage) {
  for (size_t i = lineage.size(); i-- > 0;) {
    if (!lineage[i].not_finite_since) return i;
  }
  return std::nullopt;
}

}  // namespace

bool IsPermanent(const CommittedCheckpoint& checkpoint) {
  return checkpoint.mark && checkpoint.mark->keep == RetentionClass::kPermanent;
}

RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t created_at, int64_t now, int64_t every_seconds) {
  const int64_t from = std::min(now, LastPermanentAt(lineage, created_at));
  return {.last_permanent_at = from,
          .keep = now - from >= every_seconds ? RetentionClass::kPermanent
                                              : RetentionClass::kRecent};
}

std::vector<bool> FindSurplus(std::span<const CommittedCheckpoint> lineage,
                              int keep) {
  std::vector<bool> surplus(lineage.size());
  int left = keep;
  for (size_t i = lineage.size(); i-- > 0;) {
    if (IsPermanent(lineage[i])) continue;
    surplus[i] = left == 0;
    left = std::max(0, left - 1);
  }
  if (const auto finite = NewestFinite(lineage)) surplus[*finite] = false;
  return surplus;
}

std::optional<size_t> FindOldestRemovable(
    std::span<const CommittedCheckpoint> lineage, size_t newest) {
  const std::optional<size_t> finite = NewestFinite(lineage.first(newest + 1));
  for (size_t i = 0; i < newest; ++i) {
    if (!IsPermanent(lineage[i]) && i != finite) return i;
  }
  return std::nullopt;
}

}  // namespace gauntlet
