// The shortest possible training loop: one process, replicas in order.
#ifndef GAUNTLET_TESTS_ENGINE_MODEL_TRAINING_LOOP_H_
#define GAUNTLET_TESTS_ENGINE_MODEL_TRAINING_LOOP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/sample_order.h"
#include "engine/model/model.h"
#include "engine/model/optimizers/optimizer.h"

namespace gauntlet {

// Returns canonical kernels; stops the test program if the machine lacks the
// instruction set.
std::unique_ptr<Kernels> MakeKernels(Isa isa, int threads);
// Returns the instruction sets of this machine, scalar first.
std::vector<Isa> IsasHere();

// Copies of samples of a data set, which a ReplicaBatch can refer to.
struct Samples {
  std::vector<float> features;
  std::vector<uint8_t> labels;
};
Samples Gather(const Dataset& data, const SampleOrder& order,
               const SampleRange& range);
// Returns all samples of the data set.
ReplicaBatch WholeSet(const Dataset& data);

class TrainingLoop {
 public:
  TrainingLoop(const JobSpec& job, const Kernels& kernels);

  // Trains one step: adds the replicas' gradients in order, and updates.
  void Step();
  // Runs to the end of the current epoch.
  void Epoch();

  // Loss of the last step.
  float loss() const { return loss_; }
  const std::vector<float>& parameters() const { return parameters_; }
  double Accuracy(const Dataset& data);
  const DataSplit& data() const { return *data_; }
  // Digest over parameters, slots, scalars and the last loss.
  std::string Digest() const;

 private:
  uint64_t steps_per_epoch() const;

  JobSpec job_;
  const Kernels& kernels_;
  std::shared_ptr<const DataSplit> data_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> parameters_;
  OptimizerState state_;
  uint64_t step_ = 0;
  float loss_ = 0.0f;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_MODEL_TRAINING_LOOP_H_
