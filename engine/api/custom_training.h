// Training with a loop that the program writes itself, one step at a time.
//
//   auto training = CustomTraining::Create(world, {.job = job});
//   auto manager =
//       CheckpointManager::Create(**training, {.directory = "ckpt"});
//   (*manager)->RestoreOrInitialize();
//   while ((*training)->epoch() < 5) {
//     (*training)->Step();
//     if ((*training)->EpochDone()) (*training)->EndEpoch();
//     (*manager)->Save();
//   }
//   (*training)->Leave();
//
// All workers make the same calls in the same order: steps, ends of epochs,
// saves and restores are collective.
#ifndef GAUNTLET_ENGINE_API_CUSTOM_TRAINING_H_
#define GAUNTLET_ENGINE_API_CUSTOM_TRAINING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/api/callback.h"
#include "engine/cluster/session/session.h"
#include "engine/data/dataset.h"
#include "engine/data/sample_schedule.h"
#include "engine/job/job.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/options.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/train_state.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

struct CustomTrainingOptions {
  JobSpec job;
  WorkerSpec place;  // default: this is the only worker
  ClusterOptions cluster;
  KernelOptions kernels;
};

class CustomTraining {
 public:
  // Loads the data, builds the model with initial weights from the seed, and
  // connects to the other workers. kInvalidArgument: invalid input;
  // kDeadlineExceeded names the workers that did not connect in time.
  static Result<std::unique_ptr<CustomTraining>> Create(
      World& world, const CustomTrainingOptions& options);
  // REQUIRES: Leave was called, or the process is about to exit.
  ~CustomTraining() = default;

  // Makes one step and returns the loss over all workers. If all samples of the
  // epoch were used but EndEpoch was not called, as may be the case after a
  // restore, Step closes the epoch first. `requests` is called right before the
  // workers exchange data, and returns this worker's requests to the others
  // (notice_requests.h). After the step, agreed() has the requests of all
  // workers. After an error this worker must call Leave.
  Result<float> Step(const Trainer::Requests& requests = nullptr);
  uint32_t agreed() const { return agreed_; }

  // Number of steps left in this epoch; 0: its samples are used up.
  uint64_t steps_left() const {
    return schedule_->StepsLeft(state_->position.sample);
  }
  // Returns true if the samples of this epoch are used up.
  bool EpochDone() const;
  // Evaluates the validation samples, and closes the epoch. REQUIRES:
  // EpochDone.
  Result<EpochMetrics> EndEpoch();

  uint64_t step() const { return state_->position.step; }
  uint64_t epoch() const { return state_->position.epoch; }  // complete
  const History& history() const { return state_->history; }
  // First step after which loss or state was not finite; nullopt if this worker
  // has detected none.
  std::optional<uint64_t> not_finite_since() const {
    return state_->not_finite_since;
  }
  std::span<const float> weights() const { return state_->parameters; }
  Digest StateDigest() const { return state_->ComputeDigest(); }
  bool is_chief() const { return options_.place.rank == 0; }

  // Leaves the cluster. Every worker calls it, as its last call. Waits for the
  // other workers, unless an error has occurred.
  void Leave();

  // The functions below are for code that saves and restores the training.
  World& world() { return *world_; }
  Ring& ring() { return session_->ring(); }
  TrainState& state() { return *state_; }
  ResidentState& resident() { return *resident_; }
  const SampleSchedule& schedule() const { return *schedule_; }
  // Returns the job as JSON. `saved` names the parameters that its checkpoints
  // contain; empty: all.
  std::string JobJson(std::vector<std::string> saved = {}) const;
  std::span<const ParameterInfo> parameters() const {
    return built_.model->parameters();
  }
  const ClusterOptions& cluster() const { return options_.cluster; }
  const WorkerSpec& place() const { return options_.place; }
  uint64_t generation() const { return session_->decision().generation; }
  // Sends `payload` to all workers. Returns the payloads of all workers, by
  // rank.
  Result<std::vector<std::string>> AllGather(const std::string& payload);
  // If `status` is an error, records that other workers may be lost. Returns
  // `status`.
  Status Noted(Status status);

 private:
  CustomTraining(World& world, const CustomTrainingOptions& options)
      : world_(&world), options_(options) {}
  Status Build();
  Status JoinOtherWorkers();

  World* world_;
  CustomTrainingOptions options_;
  std::shared_ptr<const DataSplit> data_;
  std::optional<SampleSchedule> schedule_;
  JobModel built_;
  std::optional<TrainState> state_;
  std::optional<ResidentState> resident_;  // of state_
  std::unique_ptr<Session> session_;
  std::optional<Trainer> trainer_;
  uint32_t agreed_ = 0;
  bool failed_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CUSTOM_TRAINING_H_
