#include "engine/api/callback_hooks.h"

#include <algorithm>

#include "engine/api/weights/weights_file.h"
#include "engine/train/loop/trainer.h"

namespace gauntlet {

CallbackHooks::CallbackHooks(World& world, std::span<Callback* const> callbacks,
                             const Model& model, bool chief)
    : world_(&world),
      callbacks_(callbacks),
      model_(&model),
      values_(TrainedValues(model)),
      chief_(chief) {}

std::vector<HookState> CallbackHooks::states(const ModelExtent& model) const {
  std::vector<HookState> states;
  for (const Callback* callback : callbacks_) {
    const size_t size = callback->StateSize(model);
    if (size == 0) continue;
    states.push_back({.name = std::string(kCallbackPrefix) + callback->name(),
                      .size = size});
  }
  return states;
}

Progress CallbackHooks::ProgressOf(const TrainState& state) const {
  return {.world = *world_,
          .chief = chief_,
          .epoch = state.position.epoch,
          .step = state.position.step};
}

Status CallbackHooks::RecordFailure(const Callback& callback,
                                    const Status& status) {
  if (!status.ok()) failure_ = Annotate(status, callback.name());
  return failure_;
}

Status CallbackHooks::TakePart(
    TrainState& state,
    const std::function<Status(Callback&, const Boundary&)>& call) {
  size_t offset = 0;
  for (Callback* callback : callbacks_) {
    const size_t size =
        callback->StateSize({.parameters = state.parameters.size(),
                             .replica_state = state.replica_state.size()});
    const Boundary here = {ProgressOf(state),
                           model_->parameters(),
                           state.parameters,
                           state.replica_state,
                           std::span(state.hook_state).subspan(offset, size),
                           [&](const std::string& path) {
                             return WriteWeights(*world_, path, values_,
                                                 ValuesOf(*model_, state));
                           }};
    RETURN_IF_ERROR(RecordFailure(*callback, call(*callback, here)));
    offset += size;
  }
  return OkStatus();
}

Status CallbackHooks::CallAll(
    const TrainState& state,
    const std::function<Status(Callback&, const Progress&)>& call) {
  for (Callback* callback : callbacks_) {
    RETURN_IF_ERROR(
        RecordFailure(*callback, call(*callback, ProgressOf(state))));
  }
  return OkStatus();
}

Status CallbackHooks::TrainBegin(TrainState& state) {
  return TakePart(state, [](Callback& callback, const Boundary& here) {
    return callback.OnTrainBegin(here);
  });
}

Status CallbackHooks::EpochBegin(TrainState& state) {
  return TakePart(state, [](Callback& callback, const Boundary& here) {
    return callback.OnEpochBegin(here);
  });
}

Status CallbackHooks::StepEnd(TrainState& state, const StepOutcome& outcome) {
  return TakePart(state, [&](Callback& callback, const Boundary& here) {
    return callback.OnStepEnd(here, outcome.loss);
  });
}

Status CallbackHooks::StepSettled(const TrainState& state) {
  return CallAll(state, [](Callback& callback, const Progress& here) {
    return callback.OnStepSettled(here);
  });
}

Status CallbackHooks::EpochEnd(TrainState& state) {
  const EpochMetrics metrics =
      MetricsOf(state.history, state.history.loss.size() - 1);
  return TakePart(state, [&](Callback& callback, const Boundary& here) {
    return callback.OnEpochEnd(here, metrics);
  });
}

Status CallbackHooks::EpochSettled(const TrainState& state) {
  return CallAll(state, [](Callback& callback, const Progress& here) {
    return callback.OnEpochSettled(here);
  });
}

Status CallbackHooks::TrainEnd(const TrainState& state) {
  return CallAll(state, [](Callback& callback, const Progress& here) {
    return callback.OnTrainEnd(here);
  });
}

std::string CallbackHooks::StoppedBy() const {
  const auto stops = std::ranges::find_if(
      callbacks_, [](const Callback* each) { return each->WantsToStop(); });
  return stops == callbacks_.end() ? "" : (*stops)->name();
}

LoopVote CallbackHooks::Vote() const {
  return StoppedBy().empty() ? LoopVote::kContinue : LoopVote::kFinish;
}

}  // namespace gauntlet
