// Choice of the checkpoint that a new generation resumes from.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/protocol/store_scan.h"

namespace gauntlet {

struct Rejection {
  size_t checkpoint = 0;  // index into StoreScan::checkpoints
  std::string reason;
};

struct ParentChoice {
  std::optional<size_t> parent;  // as above; nullopt: a cold start
  bool chosen_by_edit = false;   // an edit of the state file names it
  // Checkpoints of the lineage that are newer than the parent and failed
  // verification.
  std::vector<Rejection> rejected;
  // Reason why none of the existing checkpoints is valid; "": one of them is
  // valid, or there are none.
  std::string all_invalid_reason;
  // With ColdStart::kFromMemory, if no checkpoint is valid: the newest invalid
  // or missing one.
  std::optional<ParentRecord> lost_parent;
  // The parent's contents, if this choice has read them to verify them.
  std::optional<LoadedCheckpoint> verified = {};
};

// Returns a line about a state file that a start ignores ("checkpoint: empty;
// ignored: …"), as it is damaged or has an edit that was already applied. Also
// returns a line about an edit that may be a truncation: a start applies it
// only if its checkpoint is valid. Empty: the file is as the engine wrote it,
// or has another edit that the start applies or refuses.
std::string IgnoredStateFile(const StoreScan& scan);

// Returns one line for each checkpoint that the state file lists, that is newer
// than the chosen parent, and that no longer exists. A checkpoint that an
// earlier version renamed counts as existing.
std::vector<std::string> MissingNewer(const StoreScan& scan,
                                      const ParentChoice& choice);

// Returns kOtherJob if the checkpoint is of another job, with each difference;
// kFailedPrecondition if it is of another numerics version. REQUIRES: the
// checkpoint has a manifest.
Status CheckJob(const ScannedCheckpoint& checkpoint,
                const std::string& job_json);

// Chooses the newest checkpoint of the lineage of which every byte verifies, or
// the checkpoint that an edit of the state file names. Writes nothing. Errors:
//   kFailedPrecondition  there are checkpoints, or evidence of some, but none
//                        is valid (unless cold_start allows it; kFromMemory
//                        allows it only if the name of one is known); or they
//                        are of another numerics version or schema; or the
//                        edit names a damaged one
//   kOtherJob            they are of another job
//   kInvalidArgument     the edit names no existing checkpoint, or cannot be
//                        parsed
//   kNotFound            a checkpoint disappeared meanwhile: scan again
//   kIoError             the disk cannot be read; the bytes may be intact
// The result is a cold start if the newest recorded claim, if there is one,
// records a cold start, and there is no evidence of a checkpoint that is not
// fenced. The run then crashed before its first save.
// Each checkpoint that is verified is read into `places`; the last one is the
// parent.
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const std::string& job_json,
                                  const TensorPlaces& places = {});

// As above, for callers that only inspect the directory: `verify` decides if
// the checkpoint with this index in the scan is valid. kDataLoss: it is not.
using Verifier = std::function<Status(size_t)>;
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const Verifier& verify);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_
