// The end of a run that came to its end in good order.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_

#include <cstdint>
#include <optional>

#include "engine/status.h"
#include "engine/train/training_loop.h"
#include "engine/train/worker_parts.h"

namespace gauntlet {

// How a training loop ended.
struct FinishedLoop {
  LoopEnd end = LoopEnd::kFinished;
  Status unsaved;  // why its last state is not saved; Ok if it is
  std::optional<uint64_t> resumed_from;  // step
};

// Returns true iff the last state is neither saved nor exported, and was to be.
bool LeavesWithoutAnything(const WorkerParts& parts, const FinishedLoop& loop);

// All workers agree on the final state and leave. The chief exports the model,
// sends the result and deletes the checkpoints, where those are asked for; the
// deletion waits for the launcher's acknowledgement of the result, at most for
// save_timeout. If none comes the checkpoints stay, which is no error; so do
// those of a run that is not finite. A run that leaves without anything has no
// result. Returns how the run ended: a final state that is not finite is
// kNotFinite where such runs are to stop.
Result<LoopEnd> FinishRun(WorkerParts& parts, FinishedLoop loop);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
