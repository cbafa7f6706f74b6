// Makes a custom training save and stop when any of its workers has a
// preemption notice.
#ifndef GAUNTLET_ENGINE_API_PREEMPTION_HANDLER_H_
#define GAUNTLET_ENGINE_API_PREEMPTION_HANDLER_H_

#include <cstdint>
#include <optional>

#include "engine/api/checkpoint_manager.h"
#include "engine/api/custom_training.h"
#include "engine/status.h"
#include "engine/train/notice/notice_requests.h"
#include "engine/train/notice/notice_watch.h"
#include "engine/train/options.h"

namespace gauntlet {

// Outcome of a step that the handler made.
struct HandledStep {
  float loss = 0.0f;
  // True if all workers have saved exactly this step and must stop. The program
  // must then exit with WorkerExit::kStopped, so that it is restarted; the
  // restarted program repeats no step.
  bool stopped = false;
};

class PreemptionCheckpointHandler {
 public:
  // The arguments outlive the handler. After a notice with a grace period,
  // training continues while enough time is left for a save; the handler
  // measures how long a save takes. Without a grace period, training stops at
  // the next step. The constructor starts to watch for notices by file and URL;
  // `report` receives lines for people about notices and failed checks.
  PreemptionCheckpointHandler(CustomTraining& training,
                              CheckpointManager& manager,
                              const PreemptionOptions& options,
                              NoticeSources::ReportLine report = nullptr);

  // Makes one step on all workers, and a save if a notice to any of them
  // requires one. The caller's work between two calls counts as part of the
  // time that a step or an evaluation needs. Returns an error if the step
  // fails, or if the save before a stop fails. A save without a stop only
  // measures how long a save takes. If such a save fails and training can
  // continue (CanContinueAfter), Run succeeds.
  Result<HandledStep> Run();

  // Stops the watch for notices. If the options name a file or a URL, Leave
  // must be called before the destructor, unless the process is about to exit.
  void Leave() { watch_.Stop(); }

  uint64_t total_run_calls() const { return total_run_calls_; }

 private:
  uint32_t NextRequests();

  CustomTraining* training_;
  CheckpointManager* manager_;
  NoticeWatch watch_;
  NoticeRequests notices_;
  uint64_t total_run_calls_ = 0;
  std::optional<Time> last_end_;  // end of the last call of Run
  bool epoch_was_done_ = false;   // EpochDone() at that time
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_PREEMPTION_HANDLER_H_
