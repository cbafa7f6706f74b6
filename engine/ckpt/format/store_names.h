// The names in a checkpoint directory.
//
//   gen-000003                          the claim of generation 3, a file; a
//                                       directory of that name takes the number
//                                       too, and is left alone
//   gen-000003.tmp                      its next version, being written
//   gen-000003.look                     made and removed by a rank that has to
//                                       see the claim (ownership.h)
//   checkpoint, checkpoint.tmp          the state file, likewise
//   lock                                locked while a run owns the directory;
//                                       its text names the last owner
//   job-token                           the secret of a cluster's workers, mode
//                                       0600
//                                       (engine/train/rendezvous/job_token_file.h)
//   job-token-0123456789abcdef.tmp      the same, being written
//   job-token.look                      as of a claim
//   step-000000150-g3/                  a committed checkpoint of step 150 that
//                                       generation 3 wrote; the name stays when
//                                       another generation resumes from it
//                                       (earlier versions renamed it then)
//   step-000000150-evaluation_due-g3/   the same step saved again at another
//                                       boundary (phase), where the plain name
//                                       is taken; "finished" where nothing of
//                                       the step is due any more, as at the end
//                                       of a run (earlier versions wrote
//                                       "in_epoch")
//   step-000000200-g3.tmp/              a save that is not committed
//   rejected-step-000000150-g3/         failed verification, kept for a look
//   .deleting-g4-step-000000100-g3/     being removed by generation 4, as a
//                                       rejected one may be too; earlier
//                                       versions left out the "g4-"
//
// All else in the directory is not the engine's, and is left alone. Inside a
// checkpoint: model-00001-of-00004.safetensors …, model.safetensors.index.json,
// MANIFEST.json.
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
inline constexpr std::string_view kTokenFileName = "job-token";
inline constexpr std::string_view kManifestName = "MANIFEST.json";
inline constexpr std::string_view kIndexName = "model.safetensors.index.json";
inline constexpr std::string_view kTmpSuffix = ".tmp";
inline constexpr std::string_view kLookSuffix = ".look";
inline constexpr std::string_view kRejectedPrefix = "rejected-";
inline constexpr std::string_view kDeletingPrefix = ".deleting-";

struct CheckpointName {
  uint64_t step = 0;
  std::optional<Phase> phase;  // only where it is part of the name
  uint64_t generation = 0;     // generation that wrote it
  bool says_in_epoch = false;  // for "finished", as earlier versions wrote it

  std::string ToString() const;
  // The inverse of ToString; nullopt for anything else.
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
  kOther,  // the state file, and what is not the engine's
};

// An entry's name, parsed; the entry itself may be anything.
struct EntryName {
  EntryKind kind = EntryKind::kOther;
  CheckpointName checkpoint;  // that the entry is, was or becomes
  uint64_t generation = 0;    // claim's, else the checkpoint's suffix
  // kDeleting: generation that removes it; 0: an earlier version did.
  uint64_t removed_by = 0;
  bool was_rejected = false;  // kDeleting: set aside before
};
EntryName ParseEntryName(std::string_view name);

// ".deleting-g4-step-000000100-g3": the name under which generation 4 removes
// the entry `name`, a checkpoint or a rejected one.
std::string DeletingName(uint64_t generation, std::string_view name);
// The name that the entry had before. REQUIRES: it is of kDeleting.
std::string NameBeforeDeletion(const EntryName& entry);

std::string ClaimName(uint64_t generation);
// The inverse of ClaimName; nullopt for anything else, generation 0 included.
std::optional<uint64_t> ParseClaimName(std::string_view name);

// "job-token-0123456789abcdef.tmp". REQUIRES: 16 hexadecimal digits.
std::string TokenTmpName(std::string_view digits);

// "model-00001-of-00004.safetensors". REQUIRES: 0 <= index < count.
std::string ShardName(int index, int count);

struct ShardPlace {
  int index = 0;
  int count = 0;
};
// The inverse of ShardName; nullopt for anything else.
std::optional<ShardPlace> ParseShardName(std::string_view name);

// Ok unless a path in that checkpoint directory would be longer than its file
// system or the system allows, at any step and generation. Checked before
// training, so that no save fails on it. Any other refusal of the system is
// left to the call that needs the path. Creates no file.
Status CheckPathsFit(Storage& storage, const std::string& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_FORMAT_STORE_NAMES_H_
