// Part of engine/numerics.h: operations on one element at a time.
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_UPDATES_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_UPDATES_H_

#include <cstdint>

#include "engine/numerics/numerics_math.h"

namespace gauntlet::numerics {

// Returns +0 for x <= 0 (and so for -0); a NaN stays a NaN.
GAUNTLET_NUMERIC float Relu(float x) { return x <= 0.0f ? 0.0f : x; }

// Returns dy if y > 0, else +0. y is Relu's input or its output: the mask is
// the same.
GAUNTLET_NUMERIC float ReluGradient(float y, float dy) {
  return y > 0.0f ? dy : 0.0f;
}

// Cumulative distribution function of the standard normal distribution,
// (1 + erf(x / sqrt(2))) / 2.
GAUNTLET_NUMERIC float NormalCdf(float x) {
  return 0.5f * (1.0f + Erf(x * 0x1.6a09e6p-1f));
}

// Gaussian error linear unit, x * NormalCdf(x): the exact form, not the
// approximation by tanh. Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2;
// torch.nn.GELU and keras.activations.gelu have the same by default. -inf gives
// its limit, -0. Error: at most 1.94 * 2^-24 * |x|.
GAUNTLET_NUMERIC float Gelu(float x) {
  const float a = x < -16.0f ? -16.0f : x;  // there the result is -0
  return a * NormalCdf(a);
}

// dy * (NormalCdf(x) + x * density(x)), where the density is
// exp(-x^2 / 2) / sqrt(2 pi). Error for dy = 1: at most 2.4 * 2^-24.
GAUNTLET_NUMERIC float GeluGradient(float x, float dy) {
  const float below = x > 16.0f ? 16.0f : x;  // there the density is 0
  const float a = below < -16.0f ? -16.0f : below;
  const float density = 0x1.988454p-2f * Exp(-0.5f * (a * a));
  return dy * Fma(a, density, NormalCdf(a));
}

// A function that maps each element of one array to an element of another.
enum class Activation : uint8_t { kRelu, kGelu };

struct ReluFunctions {
  GAUNTLET_NUMERIC static float Value(float x) { return Relu(x); }
  GAUNTLET_NUMERIC static float Gradient(float x, float dy) {
    return ReluGradient(x, dy);
  }
};
struct GeluFunctions {
  GAUNTLET_NUMERIC static float Value(float x) { return Gelu(x); }
  GAUNTLET_NUMERIC static float Gradient(float x, float dy) {
    return GeluGradient(x, dy);
  }
};

// Calls body(functions) with the functions of the activation. `functions` has a
// type of its own for each activation, so a loop or a kernel is compiled for
// each. Host only.
template <typename Body>
inline __attribute__((always_inline)) void WithFunctionsOf(
    Activation activation, const Body& body) {
  switch (activation) {
    case Activation::kRelu:
      body(ReluFunctions());
      break;
    case Activation::kGelu:
      body(GeluFunctions());
      break;
  }
}

// Returns the factor on a kept element; rate is in [0, 1).
GAUNTLET_NUMERIC float DropoutScale(float rate) { return 1.0f / (1.0f - rate); }

// Adam's slots and parameter after one element's gradient. Kingma & Ba 2015, in
// the form at the end of section 2: `step_size` includes the bias corrections.
struct AdamElement {
  float parameter;
  float m;
  float v;
};
struct AdamRates {
  float step_size;
  float beta1;
  float beta2;
  float epsilon;
};
GAUNTLET_NUMERIC AdamElement AdamUpdate(const AdamRates& rates, float gradient,
                                        const AdamElement& old) {
  const float g1 = (1.0f - rates.beta1) * gradient;
  const float g2 = (1.0f - rates.beta2) * (gradient * gradient);
  const float m = Fma(rates.beta1, old.m, g1);
  const float v = Fma(rates.beta2, old.v, g2);
  const float change = (rates.step_size * m) / (Sqrt(v) + rates.epsilon);
  return {old.parameter - change, m, v};
}

// Returns learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t). The optimizer's
// state has the powers beta1^t and beta2^t as running products.
GAUNTLET_NUMERIC float AdamStepSize(float learning_rate, float beta1_power,
                                    float beta2_power) {
  return (learning_rate * Sqrt(1.0f - beta2_power)) / (1.0f - beta1_power);
}

// Returns parameter - rate * gradient, fused.
GAUNTLET_NUMERIC float SgdUpdate(float rate, float gradient, float parameter) {
  return Fma(-rate, gradient, parameter);
}

// Returns the new velocity, momentum * velocity - rate * gradient. The caller
// adds it to the parameter, in one plain addition.
GAUNTLET_NUMERIC float MomentumVelocity(float rate, float momentum,
                                        float gradient, float velocity) {
  return Fma(momentum, velocity, -(rate * gradient));
}

// Returns the moving mean after `rows` more values with sum `sum`. REQUIRES:
// rows > 0.
GAUNTLET_NUMERIC float MovingMean(float momentum, float mean, float sum,
                                  uint64_t rows) {
  const float latest = sum / static_cast<float>(rows);
  return Fma(momentum, mean, (1.0f - momentum) * latest);
}

// Clamps to [-limit, limit]; a NaN stays a NaN.
GAUNTLET_NUMERIC float ClipValue(float x, float limit) {
  const float below = x > limit ? limit : x;
  return below < -limit ? -limit : below;
}

// Returns the factor that scales gradients with this sum of squares down to a
// Euclidean norm of `limit`; 1 if the norm is at most `limit` or NaN.
GAUNTLET_NUMERIC float ClipScale(float sum_of_squares, float limit) {
  const float norm = Sqrt(sum_of_squares);
  return norm > limit ? limit / norm : 1.0f;
}

// Returns the factor that turns a sum of the gradients of `steps` steps into
// their mean. REQUIRES: 0 < steps <= 2^24.
GAUNTLET_NUMERIC float AccumulationScale(uint32_t steps) {
  return 1.0f / static_cast<float>(steps);
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_UPDATES_H_
