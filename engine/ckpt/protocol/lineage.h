// The lineage: the valid checkpoints of a directory. All others are fenced, so
// that checkpoints of stale workers are never used.
//
// The lineage consists of all checkpoints of the newest generation with a
// recorded parent; that parent; the checkpoints that the parent's generation
// wrote before the parent; the parent of that generation, and so on. So there
// are two kinds of fenced checkpoints: those of a generation outside this
// chain, and those that a generation wrote after the checkpoint that the next
// generation of the chain resumed from. A start resumes from a fenced
// checkpoint only if its step, phase and state are those of a parent, or if an
// edit of the state file names it.
//
// A checkpoint belongs to the generation in its manifest. The suffix of its
// name has the same generation, unless an earlier version renamed the
// checkpoint. If the manifest cannot be read, the suffix decides, so that the
// checkpoint counts as damaged and not as fenced.
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

// A committed checkpoint directory, with the fields that the lineage depends
// on.
struct LineageEntry {
  CheckpointName name;
  Phase phase = Phase::kInEpoch;
  std::optional<Digest> state_digest;  // nullopt: unreadable manifest
  uint64_t written_by = 0;             // from the manifest, else the suffix
};

// Recorded parents by generation; nullopt: a cold start.
using RecordedParents = std::map<uint64_t, std::optional<ParentRecord>>;

struct Lineage {
  std::vector<size_t> members;        // indices of entries, newest first
  std::vector<uint64_t> generations;  // in the chain, newest first
};

// Returns the lineage of `entries`. If no parent is recorded, all entries are
// in it: nothing shows which of them are fenced.
Lineage FindLineage(std::span<const LineageEntry> entries,
                    const RecordedParents& parents);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_LINEAGE_H_
