// Retention: keeps the permanent checkpoints (one every so many hours), the
// newest few of the others, and the newest one whose state is finite.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"

namespace gauntlet {

bool IsPermanent(const CommittedCheckpoint& checkpoint);

// Returns the mark of a checkpoint that is saved at `now`. The checkpoint is
// permanent if the previous permanent one was saved at least `every_seconds`
// before `now`; if there is none, the store's creation (`created_at`) counts
// instead. If the clock was set back, so that this time is after `now`, the
// mark counts from `now`. All times are Unix seconds. `lineage` is oldest
// first.
RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t created_at, int64_t now, int64_t every_seconds);

// Returns, for each checkpoint, true if retention removes it. Retention keeps
// the permanent ones, the `keep` newest of the others, and the newest finite
// one.
std::vector<bool> FindSurplus(std::span<const CommittedCheckpoint> lineage,
                              int keep);

// Returns the index of the oldest checkpoint that may be deleted when the disk
// is full: older than `newest` (the newest one known to be valid), not
// permanent, and not the newest finite one among those up to `newest`. nullopt
// if there is none. `lineage` is oldest first.
std::optional<size_t> FindOldestRemovable(
    std::span<const CommittedCheckpoint> lineage, size_t newest);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_
