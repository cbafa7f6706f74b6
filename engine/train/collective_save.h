// A save, as all ranks make it together: every rank its shard, the chief the
// commit, and nobody goes on before the outcome is known to all.
#ifndef GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_
#define GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/ring.h"
#include "engine/status.h"
#include "engine/train/train_state.h"

namespace gauntlet {

class CollectiveSave {
 public:
  CollectiveSave(World& world, CheckpointStore& store, Ring& ring,
                 std::string job_json, uint64_t generation, Duration timeout);

  // REQUIRES: every rank calls it at the same boundary.
  // Ok: committed, or already there. kIoError, kResourceExhausted: this save is
  // void on every rank, training may go on. kFailedPrecondition: the ranks'
  // states differ (the message names them), or a committed checkpoint of this
  // step has another state: the run must stop. kFenced: likewise.
  // kUnavailable, kDeadlineExceeded: a worker is lost. With `of_parameters` the
  // checkpoint is of these alone (TrainState::TensorsOf); what the ranks
  // compare is the whole state all the same.
  Status Save(const TrainState& state,
              std::span<const std::string> of_parameters = {});

  // What went wrong in saves without doing harm (a state file, a retirement),
  // a line each, since the last call. On the chief; elsewhere empty.
  std::vector<std::string> TakeWarnings() { return store_->TakeWarnings(); }

 private:
  struct Attempt {
    CheckpointHead head;
    Digest whole;  // of all of this rank's state
    std::span<const TensorView> tensors;
    ExchangeKey key;
    // What kept this rank from beginning. It takes part all the same and says
    // so in its report: a rank that left an exchange out would break the ring.
    Status ready;
  };

  // What the chief found when it began, and whether all states agree; an empty
  // name: nothing to do.
  Result<std::string> Begin(const Attempt& attempt);
  Status WriteAndCommit(const Attempt& attempt, const std::string& save);
  Status CommitAsChief(const Attempt& attempt, const std::string& save,
                       const std::vector<std::string>& reports);

  World* world_;
  CheckpointStore* store_;
  Ring* ring_;
  std::string job_json_;
  uint64_t generation_;
  Duration timeout_;
};

// Whether a save's error leaves the run as it was on every rank.
bool MayGoOnAfter(const Status& save);

// A Status as bytes, for the way from rank to rank.
std::string EncodeStatus(const Status& status);
// The status in `bytes`; kDataLoss (with itself as the message) if torn.
Status DecodeStatus(std::string_view bytes);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_COLLECTIVE_SAVE_H_
