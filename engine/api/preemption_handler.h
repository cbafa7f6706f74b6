// Makes a custom training leave in good order when any of its workers is told
// to go.
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

// A step under the handler's eye.
struct HandledStep {
  float loss = 0.0f;
  // All workers have saved this very step: the program is to exit with
  // WorkerExit::kStopped, so that it is started again. Nothing is redone then.
  bool stopped = false;
};

class PreemptionCheckpointHandler {
 public:
  // Both outlive it. With a grace period training goes on while the time left
  // is enough for a save, whose duration is measured; without one it stops at
  // the next step. From now on it looks out for notices by file and URL; `say`
  // is told what people may want to know of that.
  PreemptionCheckpointHandler(CustomTraining& training,
                              CheckpointManager& manager,
                              const PreemptionOptions& options,
                              NoticeSources::Say say = nullptr);

  // One step of all workers, and the save that a notice to any of them asks
  // for. What the caller does between two calls counts among what has to fit
  // into the grace period. An error: the step's, or that of the save before a
  // stop; a save that is only measured may fail.
  Result<HandledStep> Run();

  // Ends the look-out. REQUIRES: called before the end where the options name a
  // file or a URL, unless the process is going away.
  void Leave() { watch_.Stop(); }

  uint64_t total_run_calls() const { return total_run_calls_; }

 private:
  uint32_t Ask();

  CustomTraining* training_;
  CheckpointManager* manager_;
  NoticeWatch watch_;
  NoticeRequests notices_;
  uint64_t total_run_calls_ = 0;
  std::optional<Time> last_end_;  // of the newest call
  bool epoch_was_done_ = false;   // then
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_PREEMPTION_HANDLER_H_
