// The end of a run that came to its end in good order.
#ifndef GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
#define GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_

#include <cstdint>
#include <optional>

#include "engine/status.h"
#include "engine/train/training_loop.h"
#include "engine/train/worker_parts.h"

namespace gauntlet {

// All workers agree on the final state and leave; the chief tells the result,
// exports the model and clears the store away, where those are asked for.
// `resumed_from` is for the result.
Status FinishRun(WorkerParts& parts, LoopEnd end,
                 std::optional<uint64_t> resumed_from);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_WORKER_FINISH_H_
