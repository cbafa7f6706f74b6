// Orderly end of a run: final state, export, result and deletion of
// checkpoints.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_

#include <cstdint>
#include <optional>

#include "engine/status.h"
#include "engine/train/loop/training_loop.h"
#include "engine/train/worker/worker_parts.h"

namespace gauntlet {

// Outcome of a training loop.
struct FinishedLoop {
  LoopEnd end = LoopEnd::kFinished;
  Status unsaved;  // error of the last save; Ok if it did not fail
  std::optional<uint64_t> resumed_from;  // step
  TimeTotals times;
};

// Returns true iff the final state should have been saved, but the save failed,
// and the model will not be exported either.
bool FinalStateIsLost(const WorkerParts& parts, const FinishedLoop& loop);

// Ends the run:
// - All workers agree on the final state.
// - The chief exports the model, if training has finished, and sends the
//   result. It does neither if FinalStateIsLost.
// - If requested, the chief deletes the checkpoints of a finished run once the
//   launcher has acknowledged the result. It keeps them if the final state is
//   not finite, or if no acknowledgement arrives within save_timeout. Neither
//   is an error.
// Returns how the run ended: kNotFinite if the final state is not finite and
// OnNotFinite::kStop is set.
Result<LoopEnd> FinishRun(WorkerParts& parts, FinishedLoop loop);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_
