// The curves of a run for TensorBoard, as its chief writes them.
//
// Everything is over the global step: epoch_loss, epoch_accuracy,
// epoch_val_loss and epoch_val_accuracy at the last step of each epoch,
// batch_loss, global_step/sec and the seconds of a step's parts (time/compute,
// time/save …) each so many steps. Nothing here keeps
// training from going on: what cannot be written is missing, and said once.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_RUN_SUMMARY_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_RUN_SUMMARY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/status.h"
#include "engine/summary/summary_writer.h"
#include "engine/train/options.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

class RunSummary {
 public:
  // For a run that goes on from this position. The options outlive it.
  RunSummary(World& world, const SummaryOptions& options,
             const Position& position);

  // Adds the durations of the parts since the previous step.
  void AddStepTimes(const std::vector<PartTime>& parts) { AddTo(took_, parts); }
  // After the step, the epoch, that is behind the state.
  void StepDone(uint64_t step, float loss);
  void EpochDone(const TrainState& state);
  // Before a checkpoint: what lies before it is not written again, so it has to
  // last at least as long.
  void BeforeSave();

  // A line each, since the last call.
  std::vector<std::string> TakeWarnings() {
    return std::exchange(warnings_, {});
  }

 private:
  void Write(uint64_t step, std::span<const Scalar> scalars);
  // Warns of the first failure of several in a row, at most once a minute: a
  // disk that is nearly full takes some records and not others.
  void Note(const Status& status);

  World* world_;
  const SummaryOptions* options_;
  std::unique_ptr<SummaryWriter> writer_;  // null: it could not be opened
  // Start of the interval in which speed is measured.
  uint64_t measured_step_;
  Time measured_at_;
  std::vector<PartTime> took_;  // since then
  bool failing_ = false;
  Time quiet_until_{};
  std::vector<std::string> warnings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_RUN_SUMMARY_H_
