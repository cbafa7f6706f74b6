// The training step, from samples to updated parameters, on one worker of many.
// A worker keeps its trainer, with all arrays, from generation to generation.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cluster/ring/ring.h"
#include "engine/data/dataset.h"
#include "engine/data/gathered_samples.h"
#include "engine/data/sample_order.h"
#include "engine/data/sample_schedule.h"
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

// Result of a step or an evaluation, for events and reports.
struct StepOutcome {
  uint64_t first_position = 0;  // of the step's first sample, in the epoch
  float loss = 0.0f;            // mean over all samples of all replicas
  Tally tally;                  // of the whole cluster
  // Samples that this worker used, as numbers from SampleSchedule::UseOf.
  std::vector<uint32_t> samples;
};

// The replicas [first, first + count), which one rank hosts. The blocks of the
// ranks ascend without gaps and are as equal in size as possible. REQUIRES:
// `size`, the number of ranks, is in [1, replicas].
struct ReplicaBlock {
  int first = 0;
  int count = 0;

  bool operator==(const ReplicaBlock&) const = default;
};
ReplicaBlock ReplicasOf(int replicas, int rank, int size);

// Returns the number of validation samples that an evaluation uses.
uint32_t EvaluatedSamples(const JobSpec& job, uint32_t samples);

// Result of evaluating the validation samples of some replicas.
struct EvaluatedPart {
  // One value per replica. Their sum over all replicas is the mean loss.
  std::vector<float> losses;
  int64_t correct = 0;
  int64_t samples = 0;
};
// The parameters are in the memory of the model's kernels.
struct EvaluatedModel {
  Model& model;
  std::span<const float> parameters;
  const std::vector<float> replica_state;  // CombinedReplicaState
};
EvaluatedPart EvaluateReplicas(const ReplicaBlock& block, const JobSpec& job,
                               const Dataset& validation,
                               const EvaluatedModel& evaluated);

// Returns kInvalidArgument if there are more workers than replicas.
Status CheckCluster(const JobSpec& job, size_t workers);

class Trainer {
 public:
  // The referenced objects outlive the trainer, except the rings, which exist
  // for one generation (Rejoin).
  struct Parts {
    // Null: the network ring sums the gradients.
    DeviceRing* device_ring = nullptr;
    const JobSpec& job;
    const DataSplit& data;
    const SampleSchedule& schedule;
    const Optimizer& optimizer;
    Model& model;
    const Kernels& kernels;
    TrainMemo* memo = nullptr;  // null: each sample order is computed
    StepProbe* probe = nullptr;
  };
  Trainer(World& world, Ring& ring, const Parts& parts);

  // Continues in another generation, with its rings. `device_ring` is as in
  // Parts. REQUIRES: rank and size are those of the first generation.
  void Rejoin(Ring& ring, DeviceRing* device_ring);

  // Returns this worker's requests to the others. Called after the passes,
  // right before the requests are sent, so that they include requests made
  // during the passes. Null: no requests.
  using Requests = std::function<uint32_t()>;

  // Makes one step: computes the gradients of a global batch, then the update
  // from them; with gradient accumulation (Position), the update follows after
  // several steps. The outcome's tally has the requests of all workers. Fault
  // points and frames carry the number of this step; the first step of the run
  // is 1. After an error the worker must leave the generation, because the
  // other workers may have completed the step. REQUIRES: the position is within
  // an epoch, with samples left.
  Result<StepOutcome> Step(ResidentState& resident, const Requests& requests,
                           Duration timeout);

  // Evaluates the validation samples, appends the result to the history, and
  // sets the next phase. REQUIRES: the phase is kEvaluationDue.
  Result<StepOutcome> Evaluate(ResidentState& resident,
                               const Requests& requests, Duration timeout);

  // Closes the epoch: appends its metrics to the history, and begins the next
  // epoch. REQUIRES: the phase is kCallbacksDue.
  Status EndEpoch(ResidentState& resident) const;

  // Returns true if at least one worker requests to finish. All workers must
  // call it.
  Result<bool> AnyVotesToFinish(const TrainState& state, LoopVote own_vote,
                                Duration timeout);

  // Durations of the training task since the last step.
  TimeSplit& times() { return times_; }

  int rank() const { return ring_->rank(); }
  const SampleSchedule& schedule() const { return *schedule_; }

 private:
  // Gathers the replica's samples of the next step into gathered_, and appends
  // the numbers of these samples (StepOutcome) to `uses`.
  void ChooseSamples(const TrainState& state, uint32_t replica,
                     std::vector<uint32_t>& uses);
  SampleOrder OrderOf(const TrainState& state, uint32_t stream) const;
  // Inputs that the passes of one step share.
  struct StepPasses {
    ExchangeKey key;
    Duration timeout{0};   // of the exchange
    uint64_t samples = 0;  // of all replicas
    StepProbe* probe = nullptr;
  };
  Status LocalGradients(ResidentState& resident, const StepPasses& passes,
                        StepOutcome& outcome);
  // Applies the step's summed gradients to the state: makes the update or, with
  // gradient accumulation, accumulates them until the update is due.
  void ApplyGradients(ResidentState& resident);
  void Advance(TrainState& state, uint64_t step_samples,
               const StepOutcome& outcome) const;
  // Returns the probe if there is one and its Begin accepts the operation that
  // begins in this state; else null. Returns an error if the device has lost
  // the state.
  Result<StepProbe*> ProbeFor(ResidentState& resident) const;
  Status DeviceStatus() const;
  static Status EndProbe(StepProbe* probe, ResidentState& resident);
  void ProbeReducedGradients(StepProbe& probe);

  World* world_;
  const JobSpec* job_;
  const DataSplit* data_;
  const SampleSchedule* schedule_;
  const Optimizer* optimizer_;
  Ring* ring_;
  Model* model_;
  const Kernels* kernels_;
  TrainMemo* memo_;
  StepProbe* probe_;
  ReplicaBlock block_;

  // Calls move(offset in TrainState::replica_state, offset in one replica's own
  // state, floats) for each part of the replica's state.
  template <typename Move>
  void ForReplicaState(int replica, const Move& move) const;

  // Sums one array per replica. The array has the replica's gradients, the
  // states of all replicas, and the replica's loss. A replica fills in its own
  // state and leaves the other states +0. So the sum has the states of all
  // replicas, and all ranks have them after each step.
  GradientExchange exchange_;
  std::vector<float> state_before_;  // of one replica
  std::vector<float> state_after_;
  GatheredSamples gathered_;  // of one replica
  TimeSplit times_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_TRAINER_H_
