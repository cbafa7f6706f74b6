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

bool IsForGood(const CommittedCheckpoint& checkpoint);

// The mark of a checkpoint that is saved now: for good if the last one of that
// kind, or else the beginning of the store (`begun_at`), is at least
// `every_seconds` ago. A clock that went back begins to count anew. All times
// are Unix seconds. `lineage` is oldest first.
RetentionMark MarkFor(std::span<const CommittedCheckpoint> lineage,
                      int64_t begun_at, int64_t now, int64_t every_seconds);

// True for each checkpoint that is to go, so that these are left: the `keep`
// newest of those that are not for good, and the newest finite one, wherever it
// stands.
std::vector<bool> Surplus(std::span<const CommittedCheckpoint> lineage,
                          int keep);

// The index of the oldest one that may be deleted on a full disk: older than
// `newest` (the newest one known to be valid), not kept for good, and not the
// newest finite one up to there. nullopt: there is none. `lineage` is oldest
// first.
std::optional<size_t> OldestSpare(std::span<const CommittedCheckpoint> lineage,
                                  size_t newest);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_RETENTION_H_
