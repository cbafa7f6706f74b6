// Progress reports of the training loop: to people, and to the launcher, which
// expects the chief to report in time.
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

// Sends nothing until a reporter is set. The references outlive this object.
class LoopReports {
 public:
  LoopReports(World& world, const TrainOptions& options,
              const TrainState& state);

  // Sets the reporter for progress; only the chief has one.
  void SetReporter(ProgressReporter& reporter, uint64_t steps_per_epoch);
  // Sets the reporter to which ReportSave reports, so that the launcher waits
  // for this worker during a long save.
  void set_save_reporter(ProgressReporter& reporter) {
    save_reporter_ = &reporter;
  }

  bool has_reporter() const { return reporter_ != nullptr; }
  // Sends a line for people.
  void ReportLine(std::string line);
  // Sends a line for people about a loss or a state that is not finite. `since`
  // is the first step at which one of them was not finite.
  void ReportNotFinite(uint64_t since, std::string line);
  // Reports a step. Limits the rate to what people can read.
  void ReportStep(const StepOutcome& outcome);
  // Reports the epoch that has just ended.
  void ReportEpoch(const StepOutcome& outcome);
  // Announces to the launcher that the next report follows within `bound` plus
  // lost_after. `bound` is the time limit of the part that begins now. With
  // lost_after in addition, the other workers detect a hang before the launcher
  // does.
  void AnnounceReportWithin(Duration bound);
  // Reports that this worker is in a save for at most `bound`; 0: the save has
  // ended.
  void ReportSave(Duration bound);

 private:
  std::string EpochLine() const;

  World* world_;
  const TrainOptions* options_;
  const TrainState* state_;
  ProgressReporter* reporter_ = nullptr;
  ProgressReporter* save_reporter_ = nullptr;
  uint64_t steps_per_epoch_ = 0;
  Time last_report_;
  Duration sent_bound_{0};  // last bound sent to the launcher
  Time bound_sent_at_{};
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_REPORTS_H_
