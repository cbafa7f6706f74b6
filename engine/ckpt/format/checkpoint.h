// A checkpoint, a claim, and the options of a store, as values.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ckpt/format/store_names.h"
#include "engine/digest.h"
#include "engine/tensor.h"

namespace gauntlet {

// Action of a claim if there are checkpoints but none is valid. kRefuse: an
// error. kAllow: a cold start. kFromMemory: workers resume from the state that
// they hold; the lost checkpoint is recorded as the parent, so that a later
// start without that state is not a cold start.
enum class ColdStart : uint8_t { kRefuse, kAllow, kFromMemory };

// kHeld: the claiming worker holds a state in memory to resume from.
enum class StateInMemory : uint8_t { kNone, kHeld };

// Hold of a launch on the checkpoint directory, shared by all incarnations of
// its workers. If two launchers use the directory without knowing of each
// other, the later one keeps it.
struct LaunchHold {
  // Name of the launch; a later launch has a larger name (MakeLaunchName). "":
  // no launcher.
  std::string launch;
  // Newest generation known to have been claimed by this launch; 0: none. If
  // this claim and all later ones are missing, the store was deleted.
  uint64_t claimed = 0;

  bool operator==(const LaunchHold&) const = default;
};

struct StoreOptions {
  std::string directory;
  // Number of newest checkpoints that retention keeps; at least 1. Retention
  // also keeps the newest finite one.
  int keep = 5;
  // Seconds from one checkpoint that is kept permanently to the next; 0: no
  // permanent ones.
  int64_t keep_every_seconds = 0;
  ColdStart cold_start = ColdStart::kRefuse;
  LaunchHold launch_hold = {};
};

// Metadata of a checkpoint. The state digest is StateDigest (state_digest.h) of
// the tensors of all shards; a load recomputes it.
struct CheckpointHead {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  std::string job_json;  // canonical; its digest is the job digest
  // Set if the state or its loss is not finite: first step of the run at which
  // one of them was not, as far as the writer knows.
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
  std::optional<CheckpointRef> parent;  // nullopt: a cold start
  Phase parent_phase = Phase::kInEpoch;
  Digest parent_digest;  // of the parent's state
  // True if there are checkpoints, but none is valid.
  bool none_is_valid = false;
};

struct LoadedCheckpoint {
  CheckpointHead head;
  std::vector<TensorView> tensors;  // in name order
  // Memory of the tensors that were not read into TensorPlaces.
  std::vector<std::unique_ptr<const std::byte[]>> bytes;
};

// Returns the memory that a load reads a tensor into, given its name, dtype and
// shape; empty: the load allocates it. The load may name a tensor again, and
// overwrite it, until it succeeds. Empty function: no tensor has a place.
using TensorPlaces = std::function<std::span<std::byte>(const TensorView&)>;

enum class RetentionClass : uint8_t { kRecent, kPermanent };

// Retention's decision at a save. Times are Unix seconds.
struct RetentionMark {
  // Time of the previous permanent checkpoint; if there is none, time at which
  // the store was created.
  int64_t last_permanent_at = 0;
  RetentionClass keep = RetentionClass::kRecent;
};

// A committed checkpoint, with the fields that distinguish it from others of
// the same step.
struct CommittedCheckpoint {
  CheckpointRef ref;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  uint64_t written_by = 0;  // generation
  int64_t written_at = 0;   // Unix seconds
  // Unset if the checkpoint was saved without keep_every_seconds.
  std::optional<RetentionMark> mark;
  // As CheckpointHead::not_finite_since.
  std::optional<uint64_t> not_finite_since = {};
};

// Maximum number of shards of a checkpoint.
inline constexpr size_t kMaxShards = 1023;

// A shard, as its writer reports it to the chief.
struct ShardFile {
  std::string name;  // "model-00001-of-00004.safetensors"
  uint64_t bytes = 0;
  Digest digest;
  std::vector<std::string> tensors;
  // Names of its float32 tensors with values that are not finite.
  std::vector<std::string> not_finite = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_
