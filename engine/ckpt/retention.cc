#include "engine/ckpt/retention.h"

#include <algorithm>
#include <ranges>

namespace gauntlet {
namespace {

bool ForGood(const CommittedCheckpoint& checkpoint) {
  return checkpoint.mark && checkpoint.mark->keep == Keep::kForGood;
}

int64_t CountedFrom(std::span<const CommittedCheckpoint> lineage,
                    int64_t begun_at) {
  for (const CommittedCheckpoint& newest : lineage | std::views::reverse) {
    if (!newest.mark) continue;
    return ForGood(newest) ? newest.written_at : newest.mark->counted_from;
  }
  return begun_at;
}

}  // namespace

RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t begun_at, int64_t now, int64_t every_seconds) {
  const int64_t from = std::min(now, CountedFrom(lineage, begun_at));
  return {
      .counted_from = from,
      .keep = now - from >= every_seconds ? Keep::kForGood : Keep::kWhileNew};
}

std::vector<bool> Surplus(std::span<const CommittedCheckpoint> lineage,
                          int keep) {
  std::vector<bool> surplus(lineage.size());
  int left = keep;
  for (size_t i = lineage.size(); i-- > 0;) {
    if (ForGood(lineage[i])) continue;
    surplus[i] = left == 0;
    left = std::max(0, left - 1);
  }
  return surplus;
}

}  // namespace gauntlet
