// Callbacks that a program passes to Sequential::Fit.
//
// Callbacks run on every worker, in the order of their list, at the same
// boundaries. If one of them changes something that training depends on
// (weights, its own state, the wish to stop), the change must follow from data
// that is the same on all workers: the metrics, the state.
#ifndef GAUNTLET_ENGINE_API_CALLBACK_H_
#define GAUNTLET_ENGINE_API_CALLBACK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// Metrics of one epoch, over all workers; NaN without a validation.
struct EpochMetrics {
  float loss = 0.0f;
  double accuracy = 0.0;
  float val_loss = std::numeric_limits<float>::quiet_NaN();
  double val_accuracy = std::numeric_limits<double>::quiet_NaN();
};

// Returns the metrics of the history's entry `index`. REQUIRES: it exists.
EpochMetrics MetricsOf(const History& history, size_t index);

// Metric that a callback observes.
enum class Monitor : uint8_t { kLoss, kAccuracy, kValLoss, kValAccuracy };
// Returns the metric as a callback keeps it. kInvalidArgument: it is one of
// validation rows, and there are none.
Result<float> ValueOf(const EpochMetrics& metrics, Monitor monitor);
bool MoreIsBetter(Monitor monitor);
std::string MonitorName(Monitor monitor);  // "val_loss"

// Position of a run.
struct Progress {
  World& world;
  bool chief = false;
  // Complete epochs; in OnEpochBegin the number of the epoch that begins.
  uint64_t epoch = 0;
  uint64_t step = 0;  // complete steps
};

// A boundary at which a callback may take part in the run.
struct Boundary : Progress {
  std::span<const ParameterInfo> parameters;  // of the weights
  std::span<float> weights;
  // State that the replicas keep for themselves: each tensor for all replicas.
  std::span<float> replica_state;
  // The callback's own numbers: saved in every checkpoint and restored with it.
  std::span<float> state;
  // Writes the trained model's values (weights_file.h).
  std::function<Status(const std::string& path)> write_weights;
};

class Callback {
 public:
  virtual ~Callback() = default;

  // Names its state among the callbacks'; [a-z0-9_]+.
  virtual std::string name() const = 0;
  // How many floats it keeps, for such a model.
  virtual size_t StateSize(const ModelExtent&) const { return 0; }
  // Options that its state depends on, by name: they are part of the job, so
  // that a checkpoint written under others is refused by option. Of a callback
  // that keeps state.
  virtual std::map<std::string, std::string> StateOptions() const { return {}; }
  // Files and directories that it writes: none may lie in backup_dir.
  virtual std::vector<std::string> Outputs() const { return {}; }
  // Before anything runs: what it asks of the engine. kInvalidArgument: what it
  // was told makes no sense, or contradicts another callback.
  virtual Status Configure(TrainOptions& /*options*/) const {
    return OkStatus();
  }

  // An error ends Fit with that error; what was saved stays.
  virtual Status OnTrainBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnEpochBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnStepEnd(const Boundary&, float /*loss*/) {
    return OkStatus();
  }
  // Behind the save that was due after the step or epoch, if one was.
  virtual Status OnStepSettled(const Progress&) { return OkStatus(); }
  virtual Status OnEpochEnd(const Boundary&, const EpochMetrics&) {
    return OkStatus();
  }
  virtual Status OnEpochSettled(const Progress&) { return OkStatus(); }
  virtual Status OnTrainEnd(const Progress&) { return OkStatus(); }

  // Asked after OnTrainBegin and OnEpochEnd: whether training is to end here,
  // as if the last epoch were done.
  virtual bool WantsToStop() const { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CALLBACK_H_
