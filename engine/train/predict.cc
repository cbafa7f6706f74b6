#include "engine/train/predict.h"

#include "engine/check.h"

namespace gauntlet {
namespace {

// A model tells of rows whether their label is the arg-max of its outputs, so
// the class is the label of which that is true.
uint8_t PredictRow(Model& model, std::span<const float> parameters,
                   const Dataset& data, uint32_t row) {
  const size_t width = data.features_per_row();
  const auto features = std::span(data.features).subspan(row * width, width);
  const auto is_class = [&](uint8_t label) {
    return model
               .Evaluate(parameters,
                         {.features = features, .labels = std::span(&label, 1)})
               .correct == 1;
  };
  const uint8_t likely = data.labels[row];
  if (is_class(likely)) return likely;
  for (uint32_t label = 0; label < data.classes; ++label) {
    if (label != likely && is_class(static_cast<uint8_t>(label))) {
      return static_cast<uint8_t>(label);
    }
  }
  CHECK(false, "a row without a class");
  return 0;
}

}  // namespace

std::vector<uint8_t> PredictClasses(Model& model,
                                    std::span<const float> parameters,
                                    const Dataset& data) {
  std::vector<uint8_t> classes;
  classes.reserve(data.rows);
  for (uint32_t row = 0; row < data.rows; ++row) {
    classes.push_back(PredictRow(model, parameters, data, row));
  }
  return classes;
}

}  // namespace gauntlet
