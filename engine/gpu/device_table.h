// Fills in the operations of a DeviceApi, for a Device that is a Runtime
// (operations.h). Included by files that define struct Device.
#ifndef GAUNTLET_ENGINE_GPU_DEVICE_TABLE_H_
#define GAUNTLET_ENGINE_GPU_DEVICE_TABLE_H_

#include "engine/gpu/device_api.h"
#include "engine/gpu/operations.h"

namespace gauntlet::gpu {

template <typename Operation, typename OfDevice>
void RunElements(OfDevice* device, const Operation& operation, size_t count) {
  Operations<OfDevice>(*device).Elements(operation, count);
}

template <typename OfDevice>
void AddProducts(DeviceApi& api) {
  using All = Operations<OfDevice>;
  api.mat_mul = [](OfDevice* d, const Product& p) { All(*d).MatMul(p); };
  api.column_sums = [](OfDevice* d, const ColumnBlock& block, float* out) {
    All(*d).ColumnSums(block, out);
  };
  api.convolution = [](OfDevice* d, const ConvolutionArrays& of) {
    All(*d).Convolution(of);
  };
  api.kernel_gradient = [](OfDevice* d, const KernelGradientArrays& of) {
    All(*d).KernelGradient(of);
  };
  api.input_gradient = [](OfDevice* d, const InputGradientArrays& of) {
    All(*d).InputGradient(of);
  };
  api.sum = [](OfDevice* d, const float* x, size_t count, float* result) {
    All(*d).Sum(x, count, Terms::kValues, result);
  };
  api.sum_of_squares = [](OfDevice* d, const float* x, size_t count,
                          float* result) {
    All(*d).Sum(x, count, Terms::kSquares, result);
  };
  api.digest_blocks = [](OfDevice* d, const DigestBlocks& blocks) {
    All(*d).Digests(blocks);
  };
}

template <typename OfDevice>
void AddLayers(DeviceApi& api) {
  api.activate = [](OfDevice* d, numerics::Activation activation,
                    const float* x, float* y, size_t count) {
    numerics::WithFunctionsOf(activation, [&](auto functions) {
      RunElements(d, ActivationOperation<decltype(functions)>{x, y}, count);
    });
  };
  api.activation_gradient = [](OfDevice* d, numerics::Activation activation,
                               const float* x, const float* dy, float* dx,
                               size_t count) {
    numerics::WithFunctionsOf(activation, [&](auto functions) {
      RunElements(d,
                  ActivationGradientOperation<decltype(functions)>{x, dy, dx},
                  count);
    });
  };
  api.dropout = [](OfDevice* d, const DropoutRows& rows, const float* x,
                   float* y) { Operations<OfDevice>(*d).Dropout(rows, x, y); };
  api.cross_entropy = [](OfDevice* d, const CrossEntropyRows& rows,
                         const LossArrays& to) {
    RunElements(d, CrossEntropyOperation{rows, to.losses, to.gradients},
                rows.rows);
  };
  api.squared_error = [](OfDevice* d, const CrossEntropyRows& rows,
                         const LossArrays& to) {
    RunElements(d, MeanSquaredErrorOperation{rows, to.losses, to.gradients},
                rows.rows);
  };
  api.right_rows = [](OfDevice* d, const CrossEntropyRows& rows,
                      uint8_t* right) {
    RunElements(d, RightRowsOperation{rows, right}, rows.rows);
  };
  api.subtract_means = [](OfDevice* d, const ChannelMeans& of, size_t count) {
    RunElements(d, SubtractMeansOperation{of.x, of.means, of.columns, of.y},
                count);
  };
  api.moving_means = [](OfDevice* d, const MovingMeansArrays& of,
                        size_t count) {
    RunElements(d,
                MovingMeansOperation{of.momentum, of.rows, of.means, of.next},
                count);
  };
}

template <typename OfDevice>
void AddUpdates(DeviceApi& api) {
  api.accumulate = [](OfDevice* d, const float* x, float* acc, size_t count) {
    RunElements(d, AccumulateOperation{x, acc}, count);
  };
  api.adam = [](OfDevice* d, const numerics::AdamRates& rates,
                const AdamArrays& arrays, size_t count) {
    RunElements(d, AdamOperation{rates, arrays}, count);
  };
  api.sgd_momentum = [](OfDevice* d, const SgdRates& rates,
                        const AdamArrays& arrays, size_t count) {
    RunElements(d,
                SgdMomentumOperation{rates, arrays.gradients, arrays.parameters,
                                     arrays.m},
                count);
  };
  api.sgd = [](OfDevice* d, float rate, const AdamArrays& arrays,
               size_t count) {
    RunElements(d, SgdOperation{rate, arrays.gradients, arrays.parameters},
                count);
  };
  api.scale = [](OfDevice* d, float factor, float* x, size_t count) {
    RunElements(d, ScaleOperation{factor, x}, count);
  };
  api.clip_values = [](OfDevice* d, float limit, float* x, size_t count) {
    RunElements(d, ClipOperation{limit, x}, count);
  };
}

template <typename OfDevice>
void AddOperations(DeviceApi& api) {
  AddProducts<OfDevice>(api);
  AddLayers<OfDevice>(api);
  AddUpdates<OfDevice>(api);
}

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_DEVICE_TABLE_H_
