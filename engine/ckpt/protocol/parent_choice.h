// Which checkpoint a new generation goes on from.
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
  size_t checkpoint = 0;  // index into the scan's
  std::string reason;
};

struct ParentChoice {
  std::optional<size_t> parent;  // index into the scan's; none: a cold start
  bool by_edit = false;          // the state file's edit names the parent
  // Newer members of the lineage that failed verification.
  std::vector<Rejection> rejected;
  // Why none is valid though there are some; "": one is, or there are none.
  std::string none_valid;
  // Under ColdStart::kFromMemory: the newest of those that are not.
  std::optional<ParentRecord> lost;
  // The parent's bytes, as far as this choice has read them to verify them.
  std::optional<LoadedCheckpoint> verified = {};
};

// Says of a state file that is damaged, or holds an edit that was obeyed
// already or may be a cut, what a start makes of it: "checkpoint: empty;
// ignored: …". Empty: the file is as it was written, or an edit to obey or
// refuse.
std::string IgnoredStateFile(const StoreScan& scan);

// A line each for what the state file lists and is gone without a trace, where
// it is newer than what a run goes on from. One that an earlier version renamed
// is there, under another name.
std::vector<std::string> MissingNewer(const StoreScan& scan,
                                      const ParentChoice& choice);

// kOtherJob: the checkpoint is of another job; names each difference.
// kFailedPrecondition: it is of another numerics version. REQUIRES: it has a
// manifest.
Status CheckJob(const ScannedCheckpoint& checkpoint,
                const std::string& job_json);

// The newest member of the lineage of which every byte verifies, or the one
// that a person's edit of the state file names. Writes nothing. Errors:
//   kFailedPrecondition  there are checkpoints, or traces of some, and none is
//                        valid (unless cold_start says otherwise; what is
//                        gone without a name is one); or they are of
//                        another numerics version or schema; or the edit
//                        names a damaged one
//   kOtherJob            they are of another job
//   kInvalidArgument     the edit names something that is not there, or cannot
//                        be understood
//   kNotFound            a checkpoint went away meanwhile: scan again
//   kIoError             the disk does not read: says nothing of the bytes
// A store whose claims record cold starts only, and in which nothing was ever
// committed as far as it shows, is a cold start: a crash before the first save.
// So is one with fenced checkpoints only: none of them was acknowledged.
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const std::string& job_json);

// Likewise, for who only looks: whether a checkpoint of the scan, given by its
// index, is good is what `verify` says. kDataLoss: it is not.
using Verifier = std::function<Status(size_t)>;
Result<ParentChoice> ChooseParent(World& world, const StoreOptions& options,
                                  const StoreScan& scan,
                                  const Verifier& verify);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_PROTOCOL_PARENT_CHOICE_H_
