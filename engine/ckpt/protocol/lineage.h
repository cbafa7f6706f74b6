// The lineage: the checkpoints of a directory that are valid. All others are
// fenced, which protects the directory from stale workers.
//
// The lineage has all checkpoints of the newest generation with a recorded
// parent; that parent; the checkpoints that the parent's generation wrote
// before it; that generation's parent, and so on. Fenced are the checkpoints
// that a generation wrote after the one that its successor resumed from, and
// all those of a generation outside this chain. A fenced checkpoint is never
// read, unless its state is bitwise identical to a parent's.
//
// A checkpoint belongs to the generation in its manifest, which is the suffix
// of its name too, unless an earlier version renamed it. Where the manifest
// cannot be read the suffix stands for it, so that damage shows as damage and
// not as a fenced checkpoint.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_LINEAGE_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_LINEAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/format/store_names.h"

namespace gauntlet {

// A committed directory, as far as the lineage is concerned.
struct LineageEntry {
  CheckpointName name;
  Phase phase = Phase::kInEpoch;
  std::optional<Digest> state_digest;  // none: the manifest cannot be read
  uint64_t written_by = 0;             // else the suffix
};

// Parent by generation, recorded ones only; nullopt is a cold start.
using RecordedParents = std::map<uint64_t, std::optional<ParentRecord>>;

struct Lineage {
  std::vector<size_t> members;        // indices of entries, newest first
  std::vector<uint64_t> generations;  // of the chain, newest first
};

// If no generation is recorded, all entries are in the lineage: no record shows
// which of them are fenced.
Lineage FindLineage(std::span<const LineageEntry> entries,
                    const RecordedParents& parents);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_LINEAGE_H_
