#include "harness/bench/state_job.h"

#include <cmath>

#include "engine/job/layers.h"

namespace gauntlet {
namespace {

using layers::Dense;
using layers::Flatten;
using layers::Relu;

// A parameter has its value and Adam's two moments, each a float32.
constexpr double kBytesPerParameter = 12;
constexpr double kInputs = 28 * 28;
constexpr double kClasses = 10;

// Returns the layer width. Layers of `width` units have width^2 + (inputs +
// classes + 2) width + classes parameters: solves that equation.
int WidthFor(uint64_t bytes) {
  const double parameters = static_cast<double>(bytes) / kBytesPerParameter;
  const double half = (kInputs + kClasses + 2) / 2;
  return static_cast<int>(
      std::lround(std::sqrt(half * half + parameters - kClasses) - half));
}

}  // namespace

JobSpec StateJob(uint64_t bytes, int replicas) {
  const int width = WidthFor(bytes);
  JobSpec job;
  job.model.layers = {Flatten(), Dense(width),
                      Relu(),    Dense(width),
                      Relu(),    Dense(static_cast<int>(kClasses))};
  // Frequent ends of epochs would distort the step times.
  job.data.samples = 8192;
  job.data.validation_samples = 32;
  // With this rate the weights hardly change, so all steps take the same time.
  // In a trained model, units are dead, and their Adam moments decay to
  // subnormal numbers. A processor takes several times as long to compute with
  // these.
  job.optimizer.learning_rate = 1e-6F;
  job.replicas = replicas;
  return job;
}

}  // namespace gauntlet
