// Inspects a checkpoint directory without changing it, for `gauntlet ckpt`.
#ifndef GAUNTLET_ENGINE_CKPT_INSPECT_H_
#define GAUNTLET_ENGINE_CKPT_INSPECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/io/tensor_difference.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

enum class LineageState : uint8_t {
  kCurrent,   // may be loaded
  kFenced,    // a newer generation resumed from another checkpoint
  kRejected,  // failed verification earlier and was set aside
};
// Returns "current", "fenced" or "rejected".
std::string_view LineageStateName(LineageState state);

enum class InspectDepth : uint8_t {
  kManifests,  // and the sizes of the files that they list
  kEveryByte,
};

struct CheckpointReport {
  std::string name;
  LineageState lineage = LineageState::kCurrent;
  Status verdict;         // Ok: valid, as far as inspected
  bool verified = false;  // every byte was read, not only the manifest
  bool next = false;      // a run would resume from it, as far as inspected
  uint64_t step = 0;
  // Newest generation that resumed from this checkpoint, by its claim; 0: none.
  uint64_t resumed_by = 0;
  // Generation that wrote the checkpoint: from the manifest or, if that cannot
  // be read, from the suffix of the name.
  uint64_t written_by = 0;
  // Epoch and phase are from the manifest. If it cannot be read, the epoch is
  // 0, and the phase is the one in the name.
  uint64_t epoch = 0;
  Phase phase = Phase::kInEpoch;
  uint64_t bytes = 0;
  int64_t age_seconds = 0;  // by the wall clock; negative after a clock jump
  Digest state_digest;
  // As CheckpointHead::not_finite_since.
  std::optional<uint64_t> not_finite_since = {};
};

struct StoreReport {
  std::vector<CheckpointReport> checkpoints;  // by step, phase and name
  // Reason why a run of the job that wrote the checkpoints cannot start here,
  // as far as inspected. Ok: it resumes from the checkpoint marked `next`, or
  // starts from scratch if there is none.
  Status start;
  std::string obstacle_name;  // as StoreScan::obstacle_name
  // Warning that a run would print about the state file; empty: none.
  std::string state_file;
  std::vector<std::string> missing;  // lines of MissingNewer
};

// Returns kNotFound if the directory does not exist.
Result<StoreReport> InspectStore(World& world, const std::string& directory,
                                 InspectDepth depth);

// Returns the name of the checkpoint that a run would resume from. Reads only
// as many checkpoints as necessary. kNotFound: the run would start from
// scratch, or the directory does not exist. Other errors: the reason why the
// run could not start.
Result<std::string> FindResumeCheckpoint(World& world,
                                         const std::string& directory);

// Compares two checkpoints, given by their directories. Both must verify. They
// may be current, fenced or rejected.
Result<std::vector<TensorDifference>> CompareCheckpoints(
    World& world, const std::string& first, const std::string& second);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_INSPECT_H_
