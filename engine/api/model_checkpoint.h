// Saves weights for later use: those of every epoch, or those of the best one.
// Fit does not resume from them; for that, use BackupAndRestore.
#ifndef GAUNTLET_ENGINE_API_MODEL_CHECKPOINT_H_
#define GAUNTLET_ENGINE_API_MODEL_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/api/callback.h"

namespace gauntlet {

enum class KeepWeights : uint8_t { kOfEveryEpoch, kOfTheBest };

struct ModelCheckpointOptions {
  // Path of a weights file (weights_file.h). {epoch} stands for the number of
  // the epoch, from 1; {loss}, {accuracy}, {val_loss} and {val_accuracy} for
  // its metrics: "weights-{epoch:02}-{val_loss:.3f}.safetensors".
  std::string path;
  KeepWeights keep = KeepWeights::kOfEveryEpoch;
  Monitor monitor = Monitor::kValLoss;  // for kOfTheBest
  uint64_t every = 1;                   // epochs
};

// The chief writes the file, completely or not at all. Every checkpoint
// contains the best metric so far.
class ModelCheckpoint final : public Callback {
 public:
  explicit ModelCheckpoint(ModelCheckpointOptions options)
      : options_(std::move(options)) {}

  std::string name() const override { return "model_checkpoint"; }
  size_t StateSize(const ModelExtent&) const override { return 2; }
  // Returns `keep`, and for kOfTheBest also `monitor`.
  std::map<std::string, std::string> StateOptions() const override;
  std::vector<std::string> Outputs() const override;
  Status Configure(TrainOptions& options) const override;
  Status OnEpochEnd(const Boundary& at, const EpochMetrics& metrics) override;

 private:
  Result<bool> IsBest(const EpochMetrics& metrics,
                      std::span<float> state) const;

  ModelCheckpointOptions options_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_MODEL_CHECKPOINT_H_
