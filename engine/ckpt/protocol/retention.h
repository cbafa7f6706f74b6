// Retention: keeps the newest few checkpoints, one every so many hours, and the
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

// Returns the mark of a checkpoint that is saved at `now`: permanent if the
// previous permanent one, or else the store's creation (`begun_at`), is at
// least `every_seconds` ago. If the clock went back, counts from `now`. All
// times are Unix seconds. `lineage` is oldest first.
RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t begun_at, int64_t now, int64_t every_seconds);

// Returns true for each checkpoint to remove. Retention keeps the permanent
// ones, the `keep` newest of the others, and the newest finite one.
std::vector<bool> Surplus(std::span<const CommittedCheckpoint> lineage,
                          int keep);

// Returns the index of the oldest checkpoint that may be deleted on a full
// disk: older than `newest` (the newest one known to be valid), not permanent,
// and not the newest finite one up to `newest`. nullopt if there is none.
// `lineage` is oldest first.
std::optional<size_t> OldestSpare(std::span<const CommittedCheckpoint> lineage,
                                  size_t newest);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_
