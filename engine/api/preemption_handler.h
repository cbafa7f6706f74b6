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
  // True if all workers have saved exactly this step and must stop: the program
  // must exit with WorkerExit::kStopped, so that it is restarted. Then no step
  // is recomputed.
  bool stopped = false;
};

class PreemptionCheckpointHandler {
 public:
  // The arguments outlive the handler. With a grace period, training continues
  // while enough of it is left for a save, whose duration is measured; without
  // one it stops at the next step. From now on the handler watches for notices
  // by file and URL; `report` receives lines for people about them.
  PreemptionCheckpointHandler(CustomTraining& training,
                              CheckpointManager& manager,
                              const PreemptionOptions& options,
                              NoticeSources::ReportLine report = nullptr);

  // Makes one step on all workers, and the save that a notice to any of them
  // requires. The caller's work between two calls counts towards the time
  // needed within the grace period. Returns the error of the step, or of the
  // save before a stop. A save made only to measure its duration may fail if
  // training can continue after its error (CanContinueAfter); other errors are
  // returned.
  Result<HandledStep> Run();

  // Stops watching. If the options name a file or a URL, call it before the
  // destructor, unless the process is about to exit.
  void Leave() { watch_.Stop(); }

  uint64_t total_run_calls() const { return total_run_calls_; }

 private:
  uint32_t Ask();

  CustomTraining* training_;
  CheckpointManager* manager_;
  NoticeWatch watch_;
  NoticeRequests notices_;
  uint64_t total_run_calls_ = 0;
  std::optional<Time> last_end_;  // end of the last call
  bool epoch_was_done_ = false;   // at that time
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_PREEMPTION_HANDLER_H_
