// Names of the entries of a checkpoint directory.
//
//   gen-000003                          claim of generation 3, a file. A
//                                       directory with such a name also uses up
//                                       the number, and is never changed
//   gen-000003.tmp                      its next version, being written
//   gen-000003.look                     created and removed by a rank while it
//                                       waits to see the claim (ownership.h)
//   checkpoint, checkpoint.tmp          the state file; its next version, being
//                                       written
//   lock                                locked while a run owns the directory;
//                                       its text names the last owner
//   job-token                           secret of a cluster's workers, with
//                                       mode 0600 (job_token_file.h)
//   job-token-0123456789abcdef.tmp      the secret, being written
//   job-token.look                      created and removed by a rank while it
//                                       waits to see the secret
//   step-000000150-g3/                  committed checkpoint of step 150,
//                                       written by generation 3; the name stays
//                                       the same when another generation
//                                       resumes from it (earlier versions
//                                       renamed it)
//   step-000000150-evaluation_due-g3/   the same step saved again at another
//                                       boundary (phase), if the plain name is
//                                       taken. The word is "finished" if all
//                                       work of the step is done, as at the end
//                                       of a run (earlier versions wrote
//                                       "in_epoch")
//   step-000000200-g3.tmp/              a save that is not committed
//   rejected-step-000000150-g3/         failed verification, kept for
//                                       inspection
//   .deleting-g4-step-000000100-g3/     being removed by generation 4; also for
//                                       rejected checkpoints (.deleting-g4-
//                                       rejected-step-…); earlier versions
//                                       omitted "g4-"
//
// All other entries of the directory do not belong to the engine, and are never
// changed. Inside a checkpoint: model-00001-of-00004.safetensors …,
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
inline constexpr std::string_view kProbeSuffix = ".look";
inline constexpr std::string_view kRejectedPrefix = "rejected-";
inline constexpr std::string_view kDeletingPrefix = ".deleting-";

struct CheckpointName {
  uint64_t step = 0;
  std::optional<Phase> phase;  // set if it is part of the name
  uint64_t generation = 0;     // generation that wrote it
  // True if an earlier version of the engine wrote the name. It spells
  // Phase::kInEpoch "in_epoch" instead of "finished".
  bool is_named_in_epoch = false;

  std::string ToString() const;
  // Inverse of ToString; nullopt for anything else.
  static std::optional<CheckpointName> Parse(std::string_view name);
};

enum class EntryKind : uint8_t {
  kClaim,
  kClaimTmp,
  kClaimProbe,
  kStateTmp,
  kToken,
  kTokenTmp,
  kTokenProbe,
  kCheckpoint,
  kSaveTmp,
  kRejected,
  kDeleting,
  kOther,  // the state file, the lock, and entries that are not the engine's
};

// The parts of an entry's name. They follow from the name alone: the entry may
// be a file even if its name is that of a directory, and vice versa.
struct EntryName {
  EntryKind kind = EntryKind::kOther;
  // The checkpoint that the name refers to. For kRejected and kDeleting, the
  // entry was this checkpoint before it was renamed; for kSaveTmp, it becomes
  // this checkpoint when the save is committed.
  CheckpointName checkpoint;
  uint64_t generation = 0;  // of the claim, or in the checkpoint's name
  // For kDeleting: generation that removes the entry; 0: an earlier version of
  // the engine renamed it.
  uint64_t removed_by = 0;
  bool was_rejected = false;  // kDeleting: rejected before its removal
};
EntryName ParseEntryName(std::string_view name);

// Returns the name that generation 4, for example, gives to the entry `name`
// before it deletes the entry: ".deleting-g4-step-000000100-g3". The entry is a
// checkpoint or a rejected checkpoint.
std::string DeletingName(uint64_t generation, std::string_view name);
// Returns the name that the entry had before DeletingName. REQUIRES: its kind
// is kDeleting.
std::string NameBeforeDeletion(const EntryName& entry);

std::string ClaimName(uint64_t generation);
// Inverse of ClaimName; nullopt if the name is not that of a claim, or is for
// generation 0.
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

// Returns an error if a path in the checkpoint directory, at any step and
// generation, could exceed a length limit of the file system or the operating
// system. Called before training, so that no save fails for this reason.
// Ignores other errors of the system: the call that needs the path reports
// them. Creates no file.
Status CheckPathsFit(Storage& storage, const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STORE_NAMES_H_
