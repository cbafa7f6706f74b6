// Products by cuBLAS, outside the numerics contract: the yardstick of ours.
//
// It is opened at run time, by its C names, and only what is used of it is
// declared here; the numbers are those of cublas_api.h.
#ifndef GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_
#define GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_

#include "engine/gpu/device_api.h"

namespace gauntlet::gpu {

// All return 0 for success. Arrays are column-major.
struct CublasApi {
  using Operation = int;  // 0: as it is; 1: transposed
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*set_stream)(void* handle, void* stream) = nullptr;
  int (*set_math_mode)(void* handle, int mode) = nullptr;
  int (*sgemm)(void* handle, Operation a, Operation b, int m, int n, int k,
               const float* alpha, const float* a_data, int lda,
               const float* b_data, int ldb, const float* beta, float* c,
               int ldc) = nullptr;
};

// A mode of set_math_mode.
constexpr int CublasModeOf(LibraryProducts products) {
  constexpr int kDefault = 0;        // CUBLAS_DEFAULT_MATH
  constexpr int kTensorFloat32 = 3;  // CUBLAS_TF32_TENSOR_OP_MATH
  return products == LibraryProducts::kFloat32 ? kDefault : kTensorFloat32;
}

// False, and why: no library of a version known, or one without these names.
bool OpenCublas(CublasApi* api, DeviceText* why);

// The product without its bias. The library's error, or -1 for an extent that
// it has no number for.
int MultiplyByCublas(const CublasApi& api, void* handle, const Product& p);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_
