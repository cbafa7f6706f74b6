// Callbacks that a program passes to Sequential::Fit.
//
// Callbacks run on every worker, in the order of their list, at the same
// boundaries. A callback may change something that training depends on
// (weights, its own state, the request to stop). It must derive this change
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

// Metrics of one epoch, over all workers. If the epoch had no validation,
// val_loss and val_accuracy are NaN.
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
// Returns the metric as the float that a callback stores. kInvalidArgument: the
// metric needs validation samples, and there are none.
Result<float> ValueOf(const EpochMetrics& metrics, Monitor monitor);
bool MoreIsBetter(Monitor monitor);
std::string MonitorName(Monitor monitor);  // "val_loss"

// Position of a run.
struct Progress {
  World& world;
  bool chief = false;
  // Number of complete epochs. In OnEpochBegin this is also the index of the
  // epoch that begins, counted from 0.
  uint64_t epoch = 0;
  uint64_t step = 0;  // complete steps
};

// A boundary at which a callback may change the state.
struct Boundary : Progress {
  std::span<const ParameterInfo> parameters;  // tensors in `weights`
  std::span<float> weights;
  // State that each replica keeps for itself. Each tensor holds the values of
  // all replicas.
  std::span<float> replica_state;
  // The callback's own numbers. Every checkpoint contains them, and a resume
  // restores them.
  std::span<float> state;
  // Writes the values of the trained model (weights_file.h).
  std::function<Status(const std::string& path)> write_weights;
};

class Callback {
 public:
  virtual ~Callback() = default;

  // Returns the name under which the callback's state is saved; [a-z0-9_]+.
  virtual std::string name() const = 0;
  // Returns the number of floats in the callback's state, for a model of the
  // given size.
  virtual size_t StateSize(const ModelExtent&) const { return 0; }
  // Returns the options that the callback's state depends on, by name. They are
  // part of the job: a checkpoint written with other options is refused, and
  // the message names the option. Ignored if StateSize is 0.
  virtual std::map<std::string, std::string> StateOptions() const { return {}; }
  // Returns the files and directories that the callback writes; none may be in
  // backup_dir.
  virtual std::vector<std::string> Outputs() const { return {}; }
  // Called before anything runs. Sets the options that the callback needs.
  // kInvalidArgument: the callback's own options are invalid, or conflict with
  // another callback.
  virtual Status Configure(TrainOptions& /*options*/) const {
    return OkStatus();
  }

  // If one of the functions below returns an error, Fit ends with that error.
  // Saved checkpoints stay.
  virtual Status OnTrainBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnEpochBegin(const Boundary&) { return OkStatus(); }
  virtual Status OnStepEnd(const Boundary&, float /*loss*/) {
    return OkStatus();
  }
  // OnStepSettled is called after each step, OnEpochSettled after each epoch.
  // If a save is due there, they are called after that save.
  virtual Status OnStepSettled(const Progress&) { return OkStatus(); }
  virtual Status OnEpochEnd(const Boundary&, const EpochMetrics&) {
    return OkStatus();
  }
  virtual Status OnEpochSettled(const Progress&) { return OkStatus(); }
  virtual Status OnTrainEnd(const Progress&) { return OkStatus(); }

  // Called after OnTrainBegin and OnEpochEnd. If it returns true, training ends
  // here, as after the last epoch.
  virtual bool WantsToStop() const { return false; }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_CALLBACK_H_
