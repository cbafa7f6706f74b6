// Runs the callbacks of one Fit as hooks of its training loop.
#ifndef GAUNTLET_ENGINE_API_CALLBACK_HOOKS_H_
#define GAUNTLET_ENGINE_API_CALLBACK_HOOKS_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/api/callback.h"
#include "engine/train/loop/loop_hooks.h"

namespace gauntlet {

class CallbackHooks final : public LoopHooks {
 public:
  // The arguments outlive this object.
  CallbackHooks(World& world, std::span<Callback* const> callbacks,
                const Model& model, bool chief);

  std::vector<HookState> states(const ModelExtent& model) const override;
  Status TrainBegin(TrainState& state) override;
  Status EpochBegin(TrainState& state) override;
  Status StepEnd(TrainState& state, const StepOutcome& outcome) override;
  Status StepSettled(const TrainState& state) override;
  Status EpochEnd(TrainState& state) override;
  Status EpochSettled(const TrainState& state) override;
  Status TrainEnd(const TrainState& state) override;
  LoopVote Vote() const override;

  // Returns the name of the first callback that requests to stop; "" if none
  // does.
  std::string StoppedBy() const;
  // Returns the error with which a callback ended the run; Ok if none did.
  const Status& failure() const { return failure_; }

 private:
  Status TakePart(
      TrainState& state,
      const std::function<Status(Callback&, const Boundary&)>& call);
  Status CallAll(const TrainState& state,
                 const std::function<Status(Callback&, const Progress&)>& call);
  Progress ProgressOf(const TrainState& state) const;
  // If `status` is an error, records it as an error of `callback`. Returns
  // failure().
  Status RecordFailure(const Callback& callback, const Status& status);

  World* world_;
  std::span<Callback* const> callbacks_;
  const Model* model_;
  std::vector<ParameterInfo> values_;  // places of the trained values
                                       // (TrainedValues)
  bool chief_;
  Status failure_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CALLBACK_HOOKS_H_
