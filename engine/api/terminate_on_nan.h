// Ends training at the step whose loss is not finite.
#ifndef GAUNTLET_ENGINE_API_TERMINATE_ON_NAN_H_
#define GAUNTLET_ENGINE_API_TERMINATE_ON_NAN_H_

#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

// As Keras's: Fit ends with FitEnd::kNotFinite where the loss of a step is
// infinite or NaN, on all workers at the same step; likewise where a save finds
// that weights or slots are. Such a state is not saved, so the newest
// checkpoint is finite.
class TerminateOnNaN final : public Callback {
 public:
  std::string name() const override { return "terminate_on_nan"; }
  Status Configure(TrainOptions& options) const override {
    options.on_not_finite = OnNotFinite::kStop;
    return OkStatus();
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_TERMINATE_ON_NAN_H_
