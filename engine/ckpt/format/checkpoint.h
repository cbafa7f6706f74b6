// A checkpoint, a claim, and the options of a store, as values.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ckpt/format/name_list.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/digest.h"
#include "engine/tensor.h"

namespace gauntlet {

// Action of a claim if there are checkpoints and none is valid. kFromMemory:
// workers hold the state, so nothing starts afresh. The lost checkpoint is
// recorded as the parent, so that no worker without that state starts afresh
// later.
enum class ColdStart : uint8_t { kRefuse, kAllow, kFromMemory };

// kHeld: the claiming worker holds a state in memory to resume from.
enum class StateInMemory : uint8_t { kNone, kHeld };

// A launcher's hold on the store, shared by all incarnations of its workers. Of
// two launchers that are not aware of each other, the later one keeps the
// store.
struct LaunchHold {
  // Later launches have later names (MakeLaunchName); "": no launcher.
  std::string launch;
  // Generation that an earlier incarnation of this launch claimed; 0: none is
  // known. If it and all later ones are gone, so are the checkpoints.
  uint64_t claimed = 0;

  bool operator==(const LaunchHold&) const = default;
};

struct StoreOptions {
  std::string directory;
  // Newest checkpoints that retention keeps; at least 1. It also keeps the
  // newest finite one.
  int keep = 5;
  // Retention also keeps one checkpoint per so many seconds for good; 0: none.
  int64_t keep_every_seconds = 0;
  ColdStart cold_start = ColdStart::kRefuse;
  LaunchHold launch_hold = {};
};

// Description of a checkpoint, apart from its tensors. The state digest is
// StateDigest (state_digest.h) of all tensors of all shards together: a load
// computes it again.
struct CheckpointHead {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  std::string job_json;  // canonical; its digest is the job digest
  // Set if the state or its loss is not finite: the first step of the run at
  // which one of them was not, as far as the writer knows.
  std::optional<uint64_t> not_finite_since = {};
};

// A committed checkpoint, by name.
struct CheckpointRef {
  std::string name;  // "step-000000150-g3"
  uint64_t step = 0;
  uint64_t generation = 0;
};

struct Claim {
  uint64_t generation = 0;
  std::optional<CheckpointRef> parent;  // none: a cold start
  Phase parent_phase = Phase::kInEpoch;
  Digest parent_digest;  // of the parent's state
  // There are checkpoints, and none is valid.
  bool none_is_valid = false;
};

struct LoadedCheckpoint {
  CheckpointHead head;
  std::vector<TensorView> tensors;  // in the order of their names
  std::vector<std::unique_ptr<const std::byte[]>> bytes;  // of the tensors
};

enum class RetentionClass : uint8_t { kRecent, kPermanent };

// Retention's decision at a save. Times are Unix seconds.
struct RetentionMark {
  // Time of the last earlier checkpoint that is kept for good, else of the
  // store's beginning.
  int64_t counted_from = 0;
  RetentionClass keep = RetentionClass::kRecent;
};

// A committed checkpoint, with the fields that distinguish it from others of
// its step.
struct CommittedCheckpoint {
  CheckpointRef ref;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  uint64_t written_by = 0;            // generation
  int64_t written_at = 0;             // Unix seconds
  std::optional<RetentionMark> mark;  // none: nobody counted hours
  // CheckpointHead::not_finite_since.
  std::optional<uint64_t> not_finite_since = {};
};

// Shards of a checkpoint.
inline constexpr size_t kMaxShards = 1023;

// A shard as its writer left it, told to the chief.
struct ShardFile {
  std::string name;  // "model-00001-of-00004.safetensors"
  uint64_t bytes = 0;
  Digest digest;
  NameList tensors;
  // Its float32 tensors with values that are not finite.
  std::vector<std::string> not_finite = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_
