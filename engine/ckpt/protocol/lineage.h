// Which checkpoints of a directory count: the fence against late survivors.
//
// The newest generation with a recorded parent counts with all its checkpoints;
// then its parent; then the checkpoints that the parent's writer wrote before
// it, that generation's parent, and so on. What a generation wrote after the
// point that its successor went on from is void, and so is all that a
// generation beside this chain wrote: it can write what it likes, it is never
// read, unless it is a parent's state, bit for bit.
//
// A checkpoint belongs to the generation in its manifest, which is the suffix
// of its name too, unless an earlier version renamed it. Where the manifest
// cannot be read the suffix stands for it, so that damage shows as damage and
// not as a void checkpoint.
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

// With no recorded generation at all every entry counts: nothing says which of
// them are void.
Lineage FindLineage(std::span<const LineageEntry> entries,
                    const RecordedParents& parents);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_LINEAGE_H_
