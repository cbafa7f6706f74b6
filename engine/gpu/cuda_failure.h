// First failure among the operations of a CUDA device.
#ifndef GAUNTLET_ENGINE_GPU_CUDA_FAILURE_H_
#define GAUNTLET_ENGINE_GPU_CUDA_FAILURE_H_

#include <cstdio>

#include <cuda_runtime.h>

#include "engine/gpu/device_api.h"

namespace gauntlet::gpu {

inline void DescribeCudaError(const char* what, cudaError_t error,
                              DeviceText* text) {
  std::snprintf(text->text, sizeof text->text, "%s: %s (%s)", what,
                cudaGetErrorString(error), cudaGetErrorName(error));
}

struct CudaFailure {
  DeviceText text;

  bool none() const { return text.text[0] == '\0'; }
  // Records the error if it is the first one. Returns true iff nothing has
  // failed so far.
  bool Check(const char* what, cudaError_t error) {
    if (error == cudaSuccess) return none();
    if (none()) DescribeCudaError(what, error, &text);
    return false;
  }
};

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUDA_FAILURE_H_
