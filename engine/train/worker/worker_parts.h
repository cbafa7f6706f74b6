// Parts of a worker, for all generations it belongs to.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_

#include <memory>
#include <optional>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/cluster/ring/device_ring.h"
#include "engine/cluster/session/session.h"
#include "engine/data/row_schedule.h"
#include "engine/status.h"
#include "engine/train/loop/job_model.h"
#include "engine/train/progress_reporter.h"
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
  TimeSplit times;  // until training begins
  Stage stage = Stage::kSetUp;
  std::optional<RowSchedule> schedule;
  JobModel built;
  std::optional<CheckpointStore> store;  // none: no checkpoints
  std::optional<TrainState> state;       // none: no generation has begun
  std::unique_ptr<Session> session;      // of the generation it belongs to
  // Ring of the same generation; null: the session's ring sums on the host.
  std::unique_ptr<DeviceRing> device_ring;
  // Reason why this worker lost its device, or got none; "": it has what it
  // needs, as far as known.
  std::string device_failure;

  const TrainOptions& options() const { return inputs.options; }
  bool chief() const { return place.rank == 0; }
  bool rejoins() const {
    return options().cluster.on_loss == OnLoss::kRejoin &&
           place.addresses.size() > 1;
  }
  uint64_t generation() const { return session->decision().generation; }
  uint64_t step() const { return state ? state->position.step : 0; }

  // How long the launcher is to wait for the next sign of the chief.
  void Expect(Duration bound) const;
};

// From the job to everything but a state and a session.
Status Build(WorkerParts& parts);

// Without what the store remembered, if it was open.
Status OpenStore(WorkerParts& parts);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_PARTS_H_
