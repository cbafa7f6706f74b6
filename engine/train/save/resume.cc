#include "engine/train/save/resume.h"

#include <fmt/format.h>

namespace gauntlet {

Status LoadState(World& world, const LoadSource& source,
                 const SampleSchedule& schedule, TrainState& state) {
  const auto& [store, parent, only_parameters] = source;
  const Result<LoadedCheckpoint> loaded =
      store.Load(parent, [&state](const TensorView& tensor) {
        return state.PlaceToRestore(tensor);
      });
  const Code code = loaded.status().code();
  if (code == Code::kDataLoss || code == Code::kNotFound) {
    world.events.Emit({.kind = EventKind::kLoadFailed,
                       .path = store.PathOf(parent),
                       .reason = ReasonOf(code)});
    // The next claim looks for another valid checkpoint.
    return Unavailable(fmt::format("{} went bad after it was chosen: {}",
                                   parent.name, loaded.status().message()));
  }
  RETURN_IF_ERROR(loaded.status());
  RETURN_IF_ERROR(
      Annotate(state.Restore(loaded->tensors, world.faults, only_parameters),
               store.PathOf(parent)));
  if (state.position.sample > schedule.samples_per_epoch()) {
    return DataLoss(fmt::format(
        "{}: position/sample: expected at most {} samples, found {}",
        store.PathOf(parent), schedule.samples_per_epoch(),
        state.position.sample));
  }
  state.not_finite_since = loaded->head.not_finite_since;
  return OkStatus();
}

}  // namespace gauntlet
