// Loads the checkpoint that the chief chose, on any worker.
#ifndef GAUNTLET_ENGINE_TRAIN_SAVE_RESUME_H_
#define GAUNTLET_ENGINE_TRAIN_SAVE_RESUME_H_

#include <span>
#include <string>

#include "engine/ckpt/checkpoint_store.h"
#include "engine/data/sample_schedule.h"
#include "engine/status.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// A checkpoint of a store. `only_parameters`: the parameters that it contains;
// empty: all.
struct LoadSource {
  CheckpointStore& store;
  const CheckpointRef& parent;
  std::span<const std::string> only_parameters = {};
};

// Reads the checkpoint into the arrays of `state`. If the claim of the store
// has already read the checkpoint into other memory, copies it from that
// memory. After an error `state` is unusable. kUnavailable: the checkpoint was
// valid when the chief chose it, and is now damaged or missing.
Status LoadState(World& world, const LoadSource& source,
                 const SampleSchedule& schedule, TrainState& state);
inline Status LoadState(World& world, CheckpointStore& store,
                        const CheckpointRef& parent,
                        const SampleSchedule& schedule, TrainState& state) {
  return LoadState(world, {.store = store, .parent = parent}, schedule, state);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_SAVE_RESUME_H_
