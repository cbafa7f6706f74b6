// Callbacks that a program passes to Sequential::Fit.
//
// Callbacks run on every worker, in the order of their list, at the same
// boundaries. If one of them changes something that training depends on
// (weights, its own state, the request to stop), the change must be derived
// from data that is the same on all workers: the metrics, the state.
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

// Metrics of one epoch, over all workers. Those of the validation are NaN if
// there was none.
struct EpochMetrics {
  float loss = 0.0f;
  double accuracy = 0.0;
  float val_loss = std::numeric_limits<float>::quiet_NaN();
  double val_accuracy = std::numeric_limits<double>::quiet_NaN();
};

// Returns the metrics of entry `index` of the history. REQUIRES: it exists.
EpochMetrics MetricsOf(const History& history, size_t index);

// Metric that a callback observes.
enum class Monitor : uint8_t { kLoss, kAccuracy, kValLoss, kValAccuracy };
// Returns the value of the metric as a callback stores it. kInvalidArgument: it
// needs validation rows, and there are none.
Result<float> ValueOf(const EpochMetrics& metrics, Monitor monitor);
bool MoreIsBetter(Monitor monitor);
std::string MonitorName(Monitor monitor);  // "val_loss"

// Position of a run.
struct Progress {
  World& world;
  bool chief = false;
  // Complete epochs; in OnEpochBegin also the number of the epoch that begins.
  uint64_t epoch = 0;
  uint64_t step = 0;  // complete steps
};

// A boundary at which a callback may change the state.
struct Boundary : Progress {
  std::span<const ParameterInfo> parameters;  // of the weights
  std::span<float> weights;
  // State that each replica keeps for itself: every tensor has the values of
  // all replicas.
  std::span<float> replica_state;
  // The callback's own numbers: part of every checkpoint, and restored from it.
  std::span<float> state;
  // Writes the values of the trained model (weights_file.h).
  std::function<Status(const std::string& path)> write_weights;
};

class Callback {
 public:
  virtual ~Callback() = default;

  // Returns the name under which its state is saved; [a-z0-9_]+.
  virtual std::string name() const = 0;
  // Returns the number of floats that it keeps, for a model of that size.
  virtual size_t StateSize(const ModelExtent&) const { return 0; }
  // Returns the options that its state depends on, by name. They are part of
  // the job: a checkpoint written with other options is refused, and the
  // message names the option. Only for callbacks that keep state.
  virtual std::map<std::string, std::string> StateOptions() const { return {}; }
  // Returns the files and directories that it writes; none may be in
  // backup_dir.
  virtual std::vector<std::string> Outputs() const { return {}; }
  // Called before anything runs: sets the options that it needs.
  // kInvalidArgument: its own options are invalid, or conflict with another
  // callback.
  virtual Status Configure(TrainOptions& /*options*/) const {
    return OkStatus();
  }

  // An error of a callback ends Fit with this error; saved checkpoints stay.
  virtual Status OnTrainBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnEpochBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnStepEnd(const Boundary&, float /*loss*/) {
    return OkStatus();
  }
  // Called after the save at the end of the step or epoch, if one was due.
  virtual Status OnStepSettled(const Progress&) { return OkStatus(); }
  virtual Status OnEpochEnd(const Boundary&, const EpochMetrics&) {
    return OkStatus();
  }
  virtual Status OnEpochSettled(const Progress&) { return OkStatus(); }
  virtual Status OnTrainEnd(const Progress&) { return OkStatus(); }

  // Called after OnTrainBegin and OnEpochEnd. Returns true if training is to
  // end here, as if the last epoch were done.
  virtual bool WantsToStop() const { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CALLBACK_H_
