// Parts of a worker that last for all of its generations.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_

#include <memory>
#include <optional>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/ring/device_ring.h"
#include "engine/cluster/session/session.h"
#include "engine/data/sample_schedule.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/loop/trainer.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/state/resident_state.h"
#include "engine/train/state/spare_arrays.h"
#include "engine/train/state/train_state.h"
#include "engine/train/worker/train_inputs.h"
#include "engine/train/worker_exit.h"
#include "engine/train/worker_processes.h"
#include "engine/world/world.h"

namespace gauntlet {

struct WorkerParts {
  World& world;
  const TrainInputs& inputs;
  const WorkerSpec& place;
  ProgressReporter& reporter;

  LaunchHold launch_hold;
  TimeSplit times;  // of the time until training begins
  Stage stage = Stage::kSetUp;
  std::optional<SampleSchedule> schedule;
  JobModel built;
  std::optional<CheckpointStore> store;   // nullopt: no checkpoints
  std::optional<TrainState> state;        // nullopt: no generation has begun
  std::optional<ResidentState> resident;  // of `state`; nullopt without one
  // `spare` and `trainer` keep their arrays from generation to generation.
  // nullopt: not used since the state was made.
  std::optional<SpareArrays> spare;
  std::optional<Trainer> trainer;
  std::unique_ptr<Session> session;  // of the current generation
  // Ring between devices, of the current generation; null: there is none.
  std::unique_ptr<DeviceRing> device_ring;
  // Reason why this worker lost its device, or could not open one; "": no
  // failure is known.
  std::string device_failure;

  const TrainOptions& options() const { return inputs.options; }
  bool is_chief() const { return place.rank == 0; }
  bool rejoins() const {
    return options().cluster.on_loss == OnLoss::kRejoin &&
           place.addresses.size() > 1;
  }
  uint64_t generation() const { return session->decision().generation; }
  uint64_t step() const { return state ? state->position.step : 0; }

  // REQUIRES: there is no state.
  void SetState(TrainState new_state);
  // Destroys the state, and the parts with arrays of the state's size. Values
  // that only a device has are lost.
  void DropState();
  // Returns the state, and removes it from the parts. nullopt: there is none,
  // or the device has lost it.
  std::optional<TrainState> TakeState();

  // Sets how long the launcher waits for the chief's next report.
  void AnnounceReportWithin(Duration bound) const;
};

// Builds all parts except state and session.
Status Build(WorkerParts& parts);

// Opens the store. If it is open already, opens it again, and so discards the
// data that it kept in memory.
Status OpenStore(WorkerParts& parts);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_
