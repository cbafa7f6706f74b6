// The end of a run that came to its end in good order.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_

#include <cstdint>
#include <optional>

#include "engine/status.h"
#include "engine/train/loop/training_loop.h"
#include "engine/train/worker/worker_parts.h"

namespace gauntlet {

// How a training loop ended.
struct FinishedLoop {
  LoopEnd end = LoopEnd::kFinished;
  Status unsaved;  // why its last state is not saved; Ok if it is
  std::optional<uint64_t> resumed_from;  // step
  TimeTotals times;
};

// Returns true iff the final state should have been saved or exported, and was
// neither.
bool LeavesWithoutAnything(const WorkerParts& parts, const FinishedLoop& loop);

// All workers agree on the final state and leave.
// - The chief exports the model and sends the result. A run that leaves without
//   anything has no result.
// - It deletes the checkpoints if that is asked for, once the launcher has
//   acknowledged the result. Without that within save_timeout they are kept,
//   which is no error. Those of a run that is not finite are kept too.
// Returns how the run ended: kNotFinite for a final state that is not finite,
// if such runs are to stop.
Result<LoopEnd> FinishRun(WorkerParts& parts, FinishedLoop loop);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_WORKER_FINISH_H_
