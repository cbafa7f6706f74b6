// Ends training at the first step whose loss is not finite.
#ifndef GAUNTLET_ENGINE_API_TERMINATE_ON_NAN_H_
#define GAUNTLET_ENGINE_API_TERMINATE_ON_NAN_H_

#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

// As in Keras: Fit ends with FitEnd::kNotFinite if the loss of a step is
// infinite or NaN, on all workers at the same step. Fit also ends if a save
// finds such values in weights or slots; the state is then not saved, so the
// newest checkpoint is finite.
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
