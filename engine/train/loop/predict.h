// Predictions of a model.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_PREDICT_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_PREDICT_H_

#include <cstdint>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/model/model.h"
#include "engine/train/state/train_state.h"

namespace gauntlet {

// Returns the predicted class of each sample: the label with which an
// evaluation would count the sample as correct.
std::vector<uint8_t> PredictClasses(Model& model, const TrainState& state,
                                    const Dataset& data);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_PREDICT_H_
