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

  // Add a loss, or the result. Called in the order of their arrival.
  void AddLoss(Loss loss);
  void SetResult(const TrainResult& result);
  // Records that a hang of the chief caused all losses. `hang` describes the
  // hang.
  void SetHang(std::string hang);

  // Returns true if there are losses since the last ExplainLosses.
  bool has_new_losses() const { return explained_ < losses_.size(); }
  // Returns the cause of the losses since the last call. Also records the
  // worker that caused them, if known (Membership::RecordCulprit). If the
  // worker is excluded for that, or too few workers would remain, the returned
  // text says so at its end.
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
