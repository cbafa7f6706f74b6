#include "engine/train/loop/predict.h"

#include <span>

#include "engine/check.h"

namespace gauntlet {
namespace {

class Predictor {
 public:
  Predictor(Model& model, const TrainState& state, const Dataset& data)
      : model_(model),
        parameters_(state.parameters),
        replica_state_(CombinedReplicaState(model, state)),
        data_(data) {}

  // Returns the class of the sample. Model::Evaluate only counts the samples
  // whose label is the arg-max of the outputs, so ClassOf tries labels until
  // one is counted.
  uint8_t ClassOf(uint32_t sample) {
    const uint8_t likely = data_.labels[sample];
    if (IsClass(sample, likely)) return likely;
    for (uint32_t label = 0; label < data_.classes; ++label) {
      if (label != likely && IsClass(sample, static_cast<uint8_t>(label))) {
        return static_cast<uint8_t>(label);
      }
    }
    CHECK(false, "a sample without a class");
    return 0;
  }

 private:
  bool IsClass(uint32_t sample, uint8_t label) {
    const size_t width = data_.features_per_sample();
    return model_
               .Evaluate(parameters_,
                         {.features = std::span(data_.features)
                                          .subspan(sample * width, width),
                          .labels = std::span(&label, 1),
                          .state = replica_state_})
               .correct == 1;
  }

  Model& model_;
  std::span<const float> parameters_;
  std::vector<float> replica_state_;
  const Dataset& data_;
};

}  // namespace

std::vector<uint8_t> PredictClasses(Model& model, const TrainState& state,
                                    const Dataset& data) {
  Predictor predictor(model, state, data);
  std::vector<uint8_t> classes;
  classes.reserve(data.samples);
  for (uint32_t sample = 0; sample < data.samples; ++sample) {
    classes.push_back(predictor.ClassOf(sample));
  }
  return classes;
}

}  // namespace gauntlet
