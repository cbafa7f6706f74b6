// Functions that return the layers of a model, so that a program can write
// {Flatten(), Dense(128), …}.
#ifndef GAUNTLET_ENGINE_JOB_LAYERS_H_
#define GAUNTLET_ENGINE_JOB_LAYERS_H_

#include "engine/job/job.h"

namespace gauntlet::layers {

inline LayerSpec Flatten() { return {.kind = LayerKind::kFlatten}; }

// Fully connected layer with `units` outputs and a bias.
inline LayerSpec Dense(int units) {
  return {.kind = LayerKind::kDense, .units = units};
}

// Convolution with `filters` filters of kernel x kernel pixels and a bias;
// valid padding, stride 1.
inline LayerSpec Conv2D(int filters, int kernel) {
  return {.kind = LayerKind::kConv2D, .filters = filters, .kernel = kernel};
}

inline LayerSpec Relu() { return {.kind = LayerKind::kRelu}; }

// Computes x * Phi(x), where Phi is the distribution function of the standard
// normal distribution (numerics::Gelu).
inline LayerSpec Gelu() { return {.kind = LayerKind::kGelu}; }

// In training, sets the share `rate` of the values, in [0, 1), to zero, and
// scales the other values.
inline LayerSpec Dropout(float rate) {
  return {.kind = LayerKind::kDropout, .rate = rate};
}

// Subtracts a moving mean that each replica keeps for itself. `momentum` in [0,
// 1) is the share of the old mean that a step keeps.
inline LayerSpec Center(float momentum) {
  return {.kind = LayerKind::kCenter, .momentum = momentum};
}

}  // namespace gauntlet::layers

#endif  // GAUNTLET_ENGINE_JOB_LAYERS_H_
