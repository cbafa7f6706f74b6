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

  // Returns the class of the row. Model::Evaluate only counts the rows whose
  // label is the arg-max of the outputs, so ClassOf tries labels until one is
  // counted.
  uint8_t ClassOf(uint32_t row) {
    const uint8_t likely = data_.labels[row];
    if (IsClass(row, likely)) return likely;
    for (uint32_t label = 0; label < data_.classes; ++label) {
      if (label != likely && IsClass(row, static_cast<uint8_t>(label))) {
        return static_cast<uint8_t>(label);
      }
    }
    CHECK(false, "a row without a class");
    return 0;
  }

 private:
  bool IsClass(uint32_t row, uint8_t label) {
    const size_t width = data_.features_per_row();
    return model_
               .Evaluate(
                   parameters_,
                   {.features =
                        std::span(data_.features).subspan(row * width, width),
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
  classes.reserve(data.rows);
  for (uint32_t row = 0; row < data.rows; ++row) {
    classes.push_back(predictor.ClassOf(row));
  }
  return classes;
}

}  // namespace gauntlet
