// TensorBoard curves of a run. The chief writes them.
//
// The x-axis is the global step. The last step of each epoch has points of
// epoch_loss, epoch_accuracy, epoch_val_loss and epoch_val_accuracy. Every
// SummaryOptions::every steps there are points of batch_loss, global_step/sec,
// and the seconds of a step's parts (time/compute, time/save …). A failure
// never interrupts training: a point that cannot be written is missing, and
// there is a warning.
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
  // Opens the curves of a run that continues from this position. The options
  // outlive this object.
  RunSummary(World& world, const SummaryOptions& options,
             const Position& position);

  // Adds the durations of the parts since the previous step.
  void AddStepTimes(const std::vector<PartTime>& parts) {
    AddTo(part_times_, parts);
  }
  // Called after each step, and after each epoch.
  void StepDone(uint64_t step, float loss);
  void EpochDone(const TrainState& state);
  // Called before each checkpoint. Syncs the points so far, as a run that
  // resumes from the checkpoint does not write them again.
  void BeforeSave();

  // Returns the warnings since the last call, one line each.
  std::vector<std::string> TakeWarnings() {
    return std::exchange(warnings_, {});
  }

 private:
  void Write(uint64_t step, std::span<const Scalar> scalars);
  // Adds a warning for the first of several consecutive failures, but at most
  // one per minute: on a nearly full disk, failures and successes alternate.
  void Note(const Status& status);

  World* world_;
  const SummaryOptions* options_;
  std::unique_ptr<SummaryWriter> writer_;  // null: it could not be opened
  // Start of the interval in which the speed is measured.
  uint64_t measured_step_;
  Time measured_at_;
  std::vector<PartTime> part_times_;  // since measured_at_
  bool failing_ = false;
  Time next_warning_{};
  std::vector<std::string> warnings_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_RUN_SUMMARY_H_
