// Ends training when a metric has stopped getting better.
#ifndef GAUNTLET_ENGINE_API_EARLY_STOPPING_H_
#define GAUNTLET_ENGINE_API_EARLY_STOPPING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

struct EarlyStoppingOptions {
  Monitor monitor = Monitor::kValLoss;
  // Less of a change is none. At least 0.
  double min_delta = 0.0;
  // Epochs in a row that may be no better. Only this option may change between
  // two runs: if the new patience would not have stopped the last run, the next
  // one resumes, with the same bits as if that patience had been set from the
  // start.
  uint32_t patience = 0;
  // Value that the first epochs must beat.
  std::optional<double> baseline;
  uint64_t start_from_epoch = 0;
  // If true, training ends with the weights of the best epoch.
  bool restore_best_weights = false;
};

// A metric that is infinite or NaN is never better. Best value, the epochs
// since and the best weights are in every checkpoint: a run that was
// interrupted stops where it would have stopped. A checkpoint written under
// another option than `patience` is refused, and the option named.
class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(options) {}

  std::string name() const override { return "early_stopping"; }
  size_t StateSize(const ModelExtent& model) const override;
  std::map<std::string, std::string> StateOptions() const override;
  Status Configure(TrainOptions& options) const override;
  Status OnTrainBegin(const Boundary& at) override;
  Status OnEpochEnd(const Boundary& at, const EpochMetrics& metrics) override;
  bool WantsToStop() const override { return stops_; }

 private:
  bool Better(float value, std::span<const float> state) const;
  bool IsOutOfPatience(std::span<const float> state) const;
  void SwapBestModel(const Boundary& at) const;

  EarlyStoppingOptions options_;
  bool stops_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_EARLY_STOPPING_H_
