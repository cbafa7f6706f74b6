// Retention: keeps the permanent checkpoints (at most one per
// keep_every_seconds of StoreOptions), the newest few of the others, and the
// newest one whose state is finite.
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
// permanent if at least `every_seconds` have passed since the previous
// permanent one was saved. If no checkpoint in `lineage` has a mark, they count
// from `created_at`. If the clock was set back, they count from `now` at the
// latest. All times are Unix seconds. `lineage` is oldest first.
RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t created_at, int64_t now, int64_t every_seconds);

// Returns, for each checkpoint, true if retention removes it. Retention keeps
// the permanent ones, the `keep` newest of the others, and the newest finite
// one.
std::vector<bool> FindSurplus(std::span<const CommittedCheckpoint> lineage,
                              int keep);

// Returns the index of the oldest checkpoint that may be deleted when the disk
// is full; nullopt if there is none. It is older than `newest`, the index of
// the newest checkpoint known to be valid. It is neither permanent nor the
// newest finite one up to `newest`. `lineage` is oldest first.
std::optional<size_t> FindOldestRemovable(
    std::span<const CommittedCheckpoint> lineage, size_t newest);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_
