// Reports of the training loop on its progress: to people, and to the launcher,
// which waits for signs of life.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_REPORTS_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_REPORTS_H_

#include <cstdint>
#include <string>

#include "engine/train/options.h"
#include "engine/train/progress_reporter.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

struct StepOutcome;

// Says nothing until it is told to whom. All references outlive it.
class LoopReports {
 public:
  LoopReports(World& world, const TrainOptions& options,
              const TrainState& state);

  // Sends progress to the reporter; only the chief's is of interest.
  void To(ProgressReporter& reporter, uint64_t steps_per_epoch);
  // Also reports this worker's saves, which may be long, to those who wait for
  // it.
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
  // Tells the launcher that the part that begins now ends within the bound,
  // plus the time in which the others notice first that it does not.
  void Expect(Duration bound);
  // Reports that a save keeps this worker for so long at most; 0: it is over.
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
  Duration expected_{0};  // last bound sent to the launcher, and its time
  Time last_sign_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_REPORTS_H_
