// The training step, from rows to updated parameters, on one worker of many.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cluster/ring/ring.h"
#include "engine/data/dataset.h"
#include "engine/data/gathered_rows.h"
#include "engine/data/row_schedule.h"
#include "engine/data/sample_order.h"
#include "engine/digest.h"
#include "engine/job/job.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"
#include "engine/status.h"
#include "engine/train/loop/gradient_exchange.h"
#include "engine/train/loop/loop_hooks.h"
#include "engine/train/loop/train_memo.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

// Result of one operation, for the log.
struct StepOutcome {
  uint64_t first_position = 0;  // of the step's rows in the epoch's order
  float loss = 0.0f;            // mean over all rows of all replicas
  Tally tally;                  // the cluster's
  // Samples that this worker used: dataset rows, or RowSchedule::UseOf them.
  std::vector<uint32_t> samples;
};

// Replicas [first, first + count) that the rank hosts: contiguous ascending
// blocks, as even as can be. REQUIRES: 1 <= size <= replicas.
struct ReplicaBlock {
  int first = 0;
  int count = 0;
};
ReplicaBlock ReplicasOf(int replicas, int rank, int size);

// Number of validation rows that an evaluation takes.
uint32_t EvaluatedRows(const JobSpec& job, uint32_t rows);

// The evaluation of some replicas' parts of the validation rows.
struct EvaluatedPart {
  std::vector<float> losses;  // by replica; their sum over all is the mean
  int64_t correct = 0;
  int64_t rows = 0;
};
// Parameters lie in the memory of the model's kernels.
struct EvaluatedModel {
  Model& model;
  std::span<const float> parameters;
  const std::vector<float> replica_state;  // CombinedReplicaState
  std::optional<Digest> parameters_digest = {};
};
EvaluatedPart EvaluateReplicas(const ReplicaBlock& block, const JobSpec& job,
                               const Dataset& validation,
                               const EvaluatedModel& evaluated);

// kInvalidArgument: more workers than replicas.
Status CheckCluster(const JobSpec& job, size_t workers);

class Trainer {
 public:
  // All of it outlives the trainer.
  struct Parts {
    DeviceRing* device_ring = nullptr;  // null: gradients go by the ring
    const JobSpec& job;
    const DataSplit& data;
    const RowSchedule& schedule;
    const Optimizer& optimizer;
    Model& model;
    const Kernels& kernels;
    TrainMemo* memo = nullptr;  // null: every order is worked out
    StepProbe* probe = nullptr;
  };
  Trainer(World& world, Ring& ring, const Parts& parts);

  // Returns this worker's requests to the others: called right before an
  // exchange, so that it covers all requests made while the worker was busy.
  // Null: none.
  using Requests = std::function<uint32_t()>;

  // Makes one step: the gradients of a global batch, and the update that they,
  // or the accumulated ones of several steps, give (Position). The requests of
  // all workers together are in the outcome's tally. The step in fault points
  // and frames is the number of the one under way, from 1. After an error the
  // worker has to leave: the others may have made the step. REQUIRES:
  // state.position is in an epoch with rows left.
  Result<StepOutcome> Step(TrainState& state, const Requests& requests,
                           Duration timeout);

  // Evaluates the validation rows into the history's entry of this epoch and
  // moves the phase on. REQUIRES: the phase is kEvaluationDue.
  Result<StepOutcome> Evaluate(TrainState& state, const Requests& requests,
                               Duration timeout);

  // Closes the epoch: its metrics go into the history, the next one begins.
  // REQUIRES: the phase is kCallbacksDue.
  Status EndEpoch(TrainState& state) const;

  // Returns true if at least one worker wishes to finish, this one included.
  // All workers have to call it.
  Result<bool> AnyWishesToFinish(const TrainState& state, LoopWish own,
                                 Duration timeout);

  // Time of the training task since the last step.
  TimeSplit& times() { return times_; }

  int rank() const { return ring_->rank(); }
  const RowSchedule& schedule() const { return *schedule_; }

 private:
  // Takes the rows of a replica in the step out of this state into rows_, and
  // adds their names in the log to `samples`.
  void ChooseRows(const TrainState& state, uint32_t replica,
                  std::vector<uint32_t>& samples);
  ResidentState& Resident(TrainState& state);
  SampleOrder OrderOf(const TrainState& state, uint32_t stream) const;
  void LocalGradients(TrainState& state, uint64_t step_rows, StepProbe* probe,
                      StepOutcome& outcome);
  // Takes the step's summed gradients into the state: the update, or its
  // part of one.
  void ApplyGradients(TrainState& state);
  void Advance(TrainState& state, uint64_t step_rows,
               const StepOutcome& outcome) const;
  // The probe, if it is there and wants what begins out of this state.
  StepProbe* ProbeFor(const TrainState& state) const;
  Status DeviceStatus() const;
  static Status EndProbe(StepProbe* probe, const TrainState& state);
  void ProbeReducedGradients(StepProbe& probe);

  World* world_;
  const JobSpec* job_;
  const DataSplit* data_;
  const RowSchedule* schedule_;
  const Optimizer* optimizer_;
  Ring* ring_;
  Model* model_;
  const Kernels* kernels_;
  TrainMemo* memo_;
  StepProbe* probe_;
  ReplicaBlock block_;

  // Calls move(place in TrainState::replica_state, place in one replica's own
  // state, floats) for each part of the replica's state.
  template <typename Move>
  void ForReplicaState(int replica, const Move& move) const;

  // A replica's gradients; beside them the state of all replicas, then its
  // loss, so that all of it is summed alike. Of the state a replica fills
  // in its own part and leaves the others' +0: the sum is everybody's state,
  // and all ranks have it after each step.
  GradientExchange exchange_;
  std::vector<float> state_before_;  // of one replica
  std::vector<float> state_after_;
  GatheredRows rows_;                      // of one replica
  std::optional<ResidentState> resident_;  // of the state trained last
  TimeSplit times_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_
