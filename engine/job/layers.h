// The layers of a model, as one writes them down: {Flatten(), Dense(128), …}.
#ifndef GAUNTLET_ENGINE_JOB_LAYERS_H_
#define GAUNTLET_ENGINE_JOB_LAYERS_H_

#include "engine/job/job.h"

namespace gauntlet::layers {

inline LayerSpec Flatten() { return {.kind = LayerKind::kFlatten}; }

// `units` outputs, with a bias.
inline LayerSpec Dense(int units) {
  return {.kind = LayerKind::kDense, .units = units};
}

// `filters` of kernel x kernel pixels, with a bias; valid padding, stride 1.
inline LayerSpec Conv2D(int filters, int kernel) {
  return {.kind = LayerKind::kConv2D, .filters = filters, .kernel = kernel};
}

inline LayerSpec Relu() { return {.kind = LayerKind::kRelu}; }

// Zeroes that share of the values in training, in [0, 1), and scales the rest.
inline LayerSpec Dropout(float rate) {
  return {.kind = LayerKind::kDropout, .rate = rate};
}

// Takes off a moving mean that each replica keeps for itself; `momentum` in
// [0, 1) is the share of it that stays in a step.
inline LayerSpec Center(float momentum) {
  return {.kind = LayerKind::kCenter, .momentum = momentum};
}

}  // namespace gauntlet::layers

#endif  // GAUNTLET_ENGINE_JOB_LAYERS_H_
