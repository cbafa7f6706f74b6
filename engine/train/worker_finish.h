// The end of a run that came to its end in good order.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_

#include <cstdint>
#include <optional>

#include "engine/status.h"
#include "engine/train/training_loop.h"
#include "engine/train/worker_parts.h"

namespace gauntlet {

// All workers agree on the final state and leave. The chief exports the model,
// sends the result and deletes the checkpoints, where those are asked for; the
// deletion waits for the launcher's acknowledgement of the result, at most for
// save_timeout. If none comes the checkpoints stay, which is no error; so do
// those of a run that is not finite. Returns how the run ended: a final state
// that is not finite is kNotFinite where such runs are to stop. `resumed_from`
// is for the result.
Result<LoopEnd> FinishRun(WorkerParts& parts, LoopEnd end,
                          std::optional<uint64_t> resumed_from);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
