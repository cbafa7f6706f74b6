// Ends training when a metric no longer improves.
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
  // Smallest change that counts as an improvement. At least 0.
  double min_delta = 0.0;
  // Training stops after this many consecutive epochs without improvement. Of
  // these options, only this one may change between two runs. If the new
  // patience would not have stopped the previous run, the next run continues
  // it. The result is then bitwise identical to that of a run that had the new
  // patience from the start.
  uint32_t patience = 0;
  // Value that counts as the best one before the first epoch.
  std::optional<double> baseline;
  uint64_t start_from_epoch = 0;
  // If true, training ends with the weights of the best epoch.
  bool restore_best_weights = false;
};

// An infinite or NaN metric never counts as an improvement. Every checkpoint
// contains the best value, the number of epochs since the best epoch, and the
// best weights. So an interrupted run stops after the same epoch as an
// uninterrupted one. A checkpoint that was written with different options,
// except `patience`, is refused, and the message names the option.
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
