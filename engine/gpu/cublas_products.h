// Products by cuBLAS: a reference for the speed of our own products. The bits
// of cuBLAS's results do not follow the numerics contract.
//
// The library is opened at run time. This file declares only the C functions
// that are used, with the constants of cublas_api.h.
#ifndef GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_
#define GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_

#include "engine/gpu/device_api.h"

namespace gauntlet::gpu {

// All functions return 0 for success. Arrays are column-major.
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

// Returns the argument of set_math_mode.
constexpr int CublasModeOf(LibraryProducts products) {
  constexpr int kDefault = 0;        // CUBLAS_DEFAULT_MATH
  constexpr int kTensorFloat32 = 3;  // CUBLAS_TF32_TENSOR_OP_MATH
  return products == LibraryProducts::kFloat32 ? kDefault : kTensorFloat32;
}

// Opens the library and fills in `api`. Returns false and the reason if no
// known version is found, or if it lacks a function.
bool OpenCublas(CublasApi* api, DeviceText* why);

// Computes the product without its bias. Returns the library's error code, or
// -1 if an extent is too large for the library's integers.
int MultiplyByCublas(const CublasApi& api, void* handle, const Product& p);

}  // namespace gauntlet::gpu

#endif  // GAUNTLET_ENGINE_GPU_CUBLAS_PRODUCTS_H_
