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

// Result of a claim if there are checkpoints but none is valid. kRefuse: an
// error. kAllow: a cold start, which trains from scratch. kFromMemory: workers
// resume from the state in their memory. The claim then records the lost
// checkpoint as its parent. So a later start fails if no worker has the state
// in memory; it does not become a cold start.
enum class ColdStart : uint8_t { kRefuse, kAllow, kFromMemory };

// kHeld: the claiming worker holds a state in memory to resume from.
enum class StateInMemory : uint8_t { kNone, kHeld };

// Hold of one launch (one run of a launcher) on the checkpoint directory. It is
// passed to all incarnations of the launch's workers. If two launchers
// unknowingly use the same directory, the later launch keeps the directory.
struct LaunchHold {
  // Name of the launch; a later launch has a name that compares greater
  // (MakeLaunchName). "": there is no launcher.
  std::string launch;
  // Newest generation that this launch is known to have claimed; 0: none. If
  // the claims of this and all later generations are missing, the store was
  // deleted.
  uint64_t claimed = 0;

  bool operator==(const LaunchHold&) const = default;
};

struct StoreOptions {
  std::string directory;
  // Number of newest checkpoints that retention keeps; at least 1. Retention
  // also keeps the newest finite one.
  int keep = 5;
  // A checkpoint is kept permanently if it is saved at least this many seconds
  // after the previous permanent one; 0: no checkpoint is kept permanently.
  int64_t keep_every_seconds = 0;
  ColdStart cold_start = ColdStart::kRefuse;
  LaunchHold launch_hold = {};
};

// Metadata of a checkpoint. The state digest is StateDigest (state_digest.h) of
// the tensors of all shards; a load computes it again and compares.
struct CheckpointHead {
  uint64_t step = 0;
  uint64_t epoch = 0;
  uint64_t position = 0;
  Phase phase = Phase::kInEpoch;
  Digest state_digest;
  std::string job_json;  // canonical; its digest is the job digest
  // Set iff the state or its loss is not finite. The value is the first step of
  // the run at which one of them was not finite, as far as the writer knows.
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
  bool all_are_invalid = false;
};

struct LoadedCheckpoint {
  CheckpointHead head;
  std::vector<TensorView> tensors;  // in name order
  // Memory of the tensors for which TensorPlaces returned none.
  std::vector<std::unique_ptr<const std::byte[]>> bytes;
};

// Returns the memory into which a load reads a tensor, given the tensor's name,
// dtype and shape. If the returned memory is empty, the load allocates memory
// for the tensor. A load that retries may call the function again for the same
// tensor, and overwrite the memory. An empty function: the load allocates
// memory for all tensors.
using TensorPlaces = std::function<std::span<std::byte>(const TensorView&)>;

enum class RetentionClass : uint8_t { kRecent, kPermanent };

// Retention's decision about a checkpoint, made when it is saved. Times are
// Unix seconds.
struct RetentionMark {
  // Time of the previous permanent checkpoint. If there is none, time at which
  // the store was claimed by the generation that saved the first marked
  // checkpoint.
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

// Description of a shard. The rank that wrote the shard sends it to all ranks.
struct ShardFile {
  std::string name;  // "model-00001-of-00004.safetensors"
  uint64_t bytes = 0;
  Digest digest;
  std::vector<std::string> tensors;
  // Names of the shard's float32 tensors that contain a value that is not
  // finite.
  std::vector<std::string> not_finite = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_CHECKPOINT_H_
