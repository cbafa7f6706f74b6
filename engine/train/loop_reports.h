// What the training loop tells of its progress: to people, and to the launcher,
// who waits for signs of life.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_REPORTS_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_REPORTS_H_

#include <cstdint>
#include <string>

#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

struct StepOutcome;

// Says nothing until it is told to whom. All references outlive it.
class LoopReports {
 public:
  LoopReports(World& world, const TrainOptions& options,
              const TrainState& state);

  // Progress; the chief's alone is of interest.
  void To(ProgressReporter& reporter, uint64_t steps_per_epoch);
  // Who waits for this worker is told of its saves, which may be long.
  void TellOfSaves(ProgressReporter& reporter) { saves_told_ = &reporter; }

  bool is_heard() const { return reporter_ != nullptr; }
  // A line for people.
  void Say(std::string line);
  // The line that says that loss or state is not finite since that step.
  void SayNotFinite(uint64_t since, std::string line);
  // Not more often than people can read.
  void Step(const StepOutcome& outcome);
  // The epoch that has just ended.
  void Epoch(const StepOutcome& outcome);
  // Tells the launcher that what begins now ends within the bound, but for the
  // time that the others take to notice first that it does not.
  void Expect(Duration bound);
  // That a save keeps this worker for so long at most; 0: no more.
  void TellOfSave(Duration bound);

 private:
  std::string EpochLine() const;

  World* world_;
  const TrainOptions* options_;
  const TrainState* state_;
  ProgressReporter* reporter_ = nullptr;
  ProgressReporter* saves_told_ = nullptr;
  uint64_t steps_per_epoch_ = 0;
  Time last_report_;
  Duration expected_{0};  // what the launcher was told last, and when
  Time last_sign_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_REPORTS_H_
