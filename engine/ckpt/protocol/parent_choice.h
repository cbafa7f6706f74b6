// Choice of the checkpoint that a new generation resumes from.
#ifndef GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_
#define GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/format/checkpoint.h"
#include "engine/ckpt/protocol/store_scan.h"

namespace gauntlet {

struct Rejection {
  size_t checkpoint = 0;  // index into StoreScan::checkpoints
  std::string reason;
};

// Text between the directory and the list of checkpoints, in the message of a
// refusal and in `all_invalid_reason`.
inline constexpr std::string_view kNoneIsValid =
    ": there are checkpoints and none is valid: ";

struct ParentChoice {
  // Index into StoreScan::checkpoints; nullopt: a cold start.
  std::optional<size_t> parent;
  bool chosen_by_edit = false;  // an edit of the state file names it
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

// Returns a line about the state file ("checkpoint: empty; ignored: …") if
//   - it is damaged: a start ignores it
//   - its edit was already applied: a start ignores it
//   - its edit may be a truncation: a start applies it only if the checkpoint
//     that it names is valid
// Returns "" if the file is as the engine wrote it, or has another edit. A
// start applies or refuses such an edit.
std::string IgnoredStateFile(const StoreScan& scan);

// Returns one line for each missing checkpoint: one that the state file lists,
// that is newer than the chosen parent, and that no longer exists. A checkpoint
// that an earlier version renamed counts as existing.
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
//                        is valid (no error with cold_start kAllow, nor with
//                        kFromMemory if the name of one is known); or they
//                        are of another numerics version or schema; or the
//                        edit names a damaged one
//   kOtherJob            they are of another job
//   kInvalidArgument     the edit names no existing checkpoint, or cannot be
//                        parsed
//   kNotFound            a checkpoint disappeared meanwhile: scan again
//   kIoError             the disk cannot be read; the bytes may be intact
// The result is also a cold start if there is no evidence of a checkpoint that
// is not fenced. A parent in the newest recorded claim would be such evidence.
// If that claim records a cold start, its generation ended before its first
// save. Reads each checkpoint that it verifies into `places`; the last one is
// the parent.
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const std::string& job_json,
                                  const TensorPlaces& places = {});

// As ChooseParent above, for callers that only inspect the directory. `verify`
// returns Ok if the checkpoint with this index in the scan is valid, kDataLoss
// if it is not.
using Verifier = std::function<Status(size_t)>;
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const Verifier& verify);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_
