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
  // Newest generation whose claim records it as the parent; 0: none does.
  uint64_t resumed_by = 0;
  // Generation that wrote it, from the manifest, else from the suffix.
  uint64_t written_by = 0;
  // From the manifest. If that cannot be read: 0, and the phase in the name.
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
  // Reason why a run of the checkpoints' own job cannot start here, as far as
  // inspected. Ok: the run resumes from `next`, or starts afresh if there is
  // none.
  Status start;
  std::string obstacle_name;  // StoreScan
  // Warning of a run about the state file; empty: none.
  std::string state_file;
  std::vector<std::string> missing;  // lines of MissingNewer
};

// Returns kNotFound if the directory does not exist.
Result<StoreReport> InspectStore(World& world, const std::string& directory,
                                 InspectDepth depth);

// Returns the name of the checkpoint that a run would resume from; reads only
// as many checkpoints as necessary. kNotFound: the run would start afresh, or
// the directory does not exist. Other errors: the reason why the run could not
// start.
Result<std::string> FindNext(World& world, const std::string& directory);

// Compares two checkpoints, given by their directories. Both must verify;
// whether they are current, fenced or rejected does not matter.
Result<std::vector<TensorDifference>> CompareCheckpoints(
    World& world, const std::string& first, const std::string& second);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_INSPECT_H_
