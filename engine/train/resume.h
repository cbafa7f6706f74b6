// How all workers come to go on from the one checkpoint that the chief chose.
#ifndef GAUNTLET_ENGINE_TRAIN_RESUME_H_
#define GAUNTLET_ENGINE_TRAIN_RESUME_H_

#include <optional>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/data/row_schedule.h"
#include "engine/status.h"
#include "engine/train/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// The checkpoint that the chief chose, as it tells the others; "" for none.
std::string EncodeParent(const std::optional<CheckpointRef>& parent);
Result<std::optional<CheckpointRef>> DecodeParent(const std::string& text);

// Reads it into `state`, which is void after an error. kUnavailable: it
// verified when it was chosen, and does not any more.
Status LoadState(World& world, CheckpointStore& store,
                 const CheckpointRef& parent, const RowSchedule& schedule,
                 TrainState& state);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RESUME_H_
