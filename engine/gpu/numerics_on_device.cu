// Compiles the numerics contract for the device: every operation of it has to
// be expressible there, from the same source. Nothing calls this kernel.
#include "engine/numerics.h"

namespace gauntlet {

__global__ void TouchContract(const float* x, float* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  y[i] = numerics::Fma(numerics::Exp(x[i]), numerics::Log(x[i]),
                       numerics::Tanh(x[i])) +
         numerics::Relu(x[i]) + numerics::ChunkedSum(x, 1, count);
  if (numerics::DropoutKeeps(7, {.step = 1, .layer = 2, .row = 3, .column = i},
                             0.5f)) {
    y[i] = numerics::Sqrt(y[i]);
  }
}

}  // namespace gauntlet
