#include "tests/engine/model/double_model.h"

#include <cmath>

#include "engine/numerics.h"

namespace gauntlet {
namespace {

using Doubles = std::vector<double>;

Doubles DenseRow(const Doubles& x, size_t units,
                 std::span<const double>& parameters) {
  Doubles y(units);
  for (size_t j = 0; j < units; ++j) {
    y[j] = parameters[x.size() * units + j];
    for (size_t k = 0; k < x.size(); ++k)
      y[j] += x[k] * parameters[k * units + j];
  }
  parameters = parameters.subspan((x.size() + 1) * units);
  return y;
}

// An image, row by row.
struct Image {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 1;
};

Doubles ConvolutionRow(const Doubles& x, const LayerSpec& layer, Image& image,
                       std::span<const double>& parameters) {
  const auto size = static_cast<size_t>(layer.kernel);
  const auto filters = static_cast<size_t>(layer.filters);
  const size_t weights = size * size * image.channels * filters;
  const Image out = {image.height - size + 1, image.width - size + 1, filters};
  Doubles y;
  for (size_t i = 0; i < out.height * out.width * filters; ++i) {
    const size_t f = i % filters;
    const size_t row = i / filters / out.width;
    const size_t column = i / filters % out.width;
    double sum = parameters[weights + f];
    for (size_t k = 0; k < size * size * image.channels; ++k) {
      const size_t c = k % image.channels;
      const size_t ky = k / image.channels / size;
      const size_t kx = k / image.channels % size;
      sum += x[((row + ky) * image.width + column + kx) * image.channels + c] *
             parameters[k * filters + f];
    }
    y.push_back(sum);
  }
  image = out;
  parameters = parameters.subspan(weights + filters);
  return y;
}

void DropoutRow(const ReplicaBatch& batch, numerics::DropoutPlace place,
                float rate, Doubles& x) {
  for (size_t j = 0; j < x.size(); ++j) {
    place.column = static_cast<uint32_t>(j);
    x[j] = numerics::DropoutKeeps(batch.rng_key, place, rate)
               ? x[j] / (1.0 - double{rate})
               : 0.0;
  }
}

double LossOfRow(LossKind kind, const Doubles& outputs, size_t label) {
  double sum = 0.0;
  if (kind == LossKind::kSoftmaxCrossEntropy) {
    for (const double output : outputs) sum += std::exp(output);
    return std::log(sum) - outputs[label];
  }
  for (size_t j = 0; j < outputs.size(); ++j) {
    const double difference = outputs[j] - (j == label ? 1.0 : 0.0);
    sum += difference * difference;
  }
  return sum / static_cast<double>(outputs.size());
}

}  // namespace

double DoubleLoss(const ModelSpec& spec, uint32_t width,
                  const ReplicaBatch& batch,
                  std::span<const double> parameters) {
  const size_t features = batch.features.size() / batch.labels.size();
  double loss = 0.0;
  for (size_t row = 0; row < batch.labels.size(); ++row) {
    const auto first = batch.features.subspan(row * features, features);
    Doubles x(first.begin(), first.end());
    std::span<const double> rest = parameters;
    Image image = {features / width, width, 1};
    for (size_t i = 0; i < spec.layers.size(); ++i) {
      const LayerSpec& layer = spec.layers[i];
      if (layer.kind == LayerKind::kDense) {
        x = DenseRow(x, static_cast<size_t>(layer.units), rest);
      } else if (layer.kind == LayerKind::kConv2D) {
        x = ConvolutionRow(x, layer, image, rest);
      } else if (layer.kind == LayerKind::kRelu) {
        for (double& value : x) value = std::max(value, 0.0);
      } else if (layer.kind == LayerKind::kGelu) {
        for (double& value : x) value *= std::erfc(-value / M_SQRT2) / 2;
      } else if (layer.kind == LayerKind::kDropout) {
        DropoutRow(batch,
                   {.step = batch.step,
                    .layer = static_cast<uint32_t>(i),
                    .row = batch.first_global_row + row},
                   layer.rate, x);
      }
    }
    loss +=
        LossOfRow(spec.loss, x, batch.labels[row]) * double{batch.loss_scale};
  }
  return loss;
}

std::vector<double> DifferenceGradients(const ModelSpec& spec, uint32_t width,
                                        const ReplicaBatch& batch,
                                        std::span<const float> parameters) {
  // The error is about h^2 from the third derivative and 2^-53 / h from
  // rounding: about 1e-10, far below that of float32.
  constexpr double kStep = 1e-5;
  Doubles moved(parameters.begin(), parameters.end());
  Doubles gradients(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    moved[i] = double{parameters[i]} + kStep;
    const double above = DoubleLoss(spec, width, batch, moved);
    moved[i] = double{parameters[i]} - kStep;
    const double below = DoubleLoss(spec, width, batch, moved);
    moved[i] = double{parameters[i]};
    gradients[i] = (above - below) / (2 * kStep);
  }
  return gradients;
}

}  // namespace gauntlet
