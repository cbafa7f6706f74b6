// Result and losses of an attempt, and the job's outcome that follows from
// them.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_OUTCOME_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_OUTCOME_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/train/launcher/launch_state.h"
#include "engine/train/launcher/worker_loss.h"
#include "engine/train/options.h"

namespace gauntlet {

class AttemptOutcome {
 public:
  // `launch` outlives it.
  explicit AttemptOutcome(LaunchState& launch) : launch_(launch) {}

  // Losses and the result are added in order of arrival.
  void AddLoss(Loss loss);
  void SetResult(const TrainResult& result);
  // Records that the chief's hang, described by `hang`, caused all losses.
  void SetHang(std::string hang);

  // Returns true if there are losses since the last ExplainLosses.
  bool has_new_losses() const { return explained_ < losses_.size(); }
  // Returns the cause of the losses since the last call. Also counts a failure
  // of the worker that caused them, if known. If this has a consequence
  // (Membership::RecordCulprit), the returned text ends with it.
  std::string ExplainLosses();

  // Returns the outcome of the job once no worker is left; nullopt if the job
  // must be restarted.
  std::optional<LaunchEnd> Final(int chief) const;

 private:
  LaunchEnd WithResult(int chief) const;
  const Loss* PermanentLoss(int chief) const;

  LaunchState& launch_;
  std::vector<Loss> losses_;
  size_t explained_ = 0;  // number of losses that ExplainLosses has covered
  std::optional<TrainResult> result_;
  size_t losses_before_result_ = 0;
  std::string hang_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_ATTEMPT_OUTCOME_H_
