// Names of the entries of a checkpoint directory.
//
//   gen-000003                          claim of generation 3, a file; a
//                                       directory with such a name takes the
//                                       number too, and is left alone
//   gen-000003.tmp                      its next version, being written
//   gen-000003.look                     created and removed by a rank that must
//                                       see the claim (ownership.h)
//   checkpoint, checkpoint.tmp          the state file; its next version
//   lock                                locked while a run owns the directory;
//                                       its text names the last owner
//   job-token                           secret of a cluster's workers, with
//                                       mode 0600
//                                       (engine/train/rendezvous/job_token_file.h)
//   job-token-0123456789abcdef.tmp      the same, being written
//   job-token.look                      as for a claim
//   step-000000150-g3/                  committed checkpoint of step 150,
//                                       written by generation 3; the name stays
//                                       the same when another generation
//                                       resumes from it (earlier versions
//                                       renamed it)
//   step-000000150-evaluation_due-g3/   the same step saved again at another
//                                       boundary (phase), if the plain name is
//                                       taken; "finished" if all work of the
//                                       step is done, as at the end of a run
//                                       (earlier versions wrote "in_epoch")
//   step-000000200-g3.tmp/              a save that is not committed
//   rejected-step-000000150-g3/         failed verification, kept for
//                                       inspection
//   .deleting-g4-step-000000100-g3/     being removed by generation 4; also
//                                       with the name of a rejected one
//                                       (earlier versions omitted "g4-")
//
// All other entries of the directory do not belong to the engine, and are left
// alone. Inside a checkpoint: model-00001-of-00004.safetensors …,
// model.safetensors.index.json, MANIFEST.json.
#ifndef GAUNTLET_ENGINE_CKPT_FORMAT_STORE_NAMES_H_
#define GAUNTLET_ENGINE_CKPT_FORMAT_STORE_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/world/event_log.h"
#include "engine/world/storage.h"

namespace gauntlet {

inline constexpr std::string_view kStateFileName = "checkpoint";
inline constexpr std::string_view kLockFileName = "lock";
inline constexpr std::string_view kTokenFileName = "job-token";
inline constexpr std::string_view kManifestName = "MANIFEST.json";
inline constexpr std::string_view kIndexName = "model.safetensors.index.json";
inline constexpr std::string_view kTmpSuffix = ".tmp";
inline constexpr std::string_view kLookSuffix = ".look";
inline constexpr std::string_view kRejectedPrefix = "rejected-";
inline constexpr std::string_view kDeletingPrefix = ".deleting-";

struct CheckpointName {
  uint64_t step = 0;
  std::optional<Phase> phase;  // set if it is part of the name
  uint64_t generation = 0;     // generation that wrote it
  // The name has "in_epoch" (earlier versions) instead of "finished".
  bool is_named_in_epoch = false;

  std::string ToString() const;
  // Inverse of ToString; nullopt for anything else.
  static std::optional<CheckpointName> Parse(std::string_view name);
};

enum class EntryKind : uint8_t {
  kClaim,
  kClaimTmp,
  kClaimLook,
  kStateTmp,
  kToken,
  kTokenTmp,
  kTokenLook,
  kCheckpoint,
  kSaveTmp,
  kRejected,
  kDeleting,
  kOther,  // the state file, and entries of others
};

// The parts of an entry's name. The entry itself may be a file or a directory,
// whatever its name suggests.
struct EntryName {
  EntryKind kind = EntryKind::kOther;
  // Name of the checkpoint that the entry is, was before it was set aside, or
  // becomes when its save is committed.
  CheckpointName checkpoint;
  uint64_t generation = 0;  // of the claim, or in the checkpoint's name
  // kDeleting: generation that removes the entry; 0: an earlier version.
  uint64_t removed_by = 0;
  bool was_rejected = false;  // kDeleting: it was set aside before
};
EntryName ParseEntryName(std::string_view name);

// Returns ".deleting-g4-step-000000100-g3": the name under which generation 4
// removes the entry `name`, a checkpoint or a rejected one.
std::string DeletingName(uint64_t generation, std::string_view name);
// Returns the name that the entry had before. REQUIRES: `entry` is a kDeleting.
std::string NameBeforeDeletion(const EntryName& entry);

std::string ClaimName(uint64_t generation);
// Inverse of ClaimName; nullopt for anything else, also for generation 0.
std::optional<uint64_t> ParseClaimName(std::string_view name);

// Returns "job-token-0123456789abcdef.tmp". REQUIRES: 16 hexadecimal digits.
std::string TokenTmpName(std::string_view digits);

// Returns "model-00001-of-00004.safetensors". REQUIRES: 0 <= index < count.
std::string ShardName(int index, int count);

struct ShardPlace {
  int index = 0;
  int count = 0;
};
// Inverse of ShardName; nullopt for anything else.
std::optional<ShardPlace> ParseShardName(std::string_view name);

// Returns an error if a path in the checkpoint directory could exceed the
// limits of the file system or the operating system, at any step and
// generation. Called before training, so that no save fails for this reason.
// Other errors of the system are left to the call that needs the path. Creates
// no file.
Status CheckPathsFit(Storage& storage, const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STORE_NAMES_H_
