#include "engine/gpu/cublas_products.h"

#include <algorithm>
#include <climits>
#include <cstdio>

#include <dlfcn.h>

namespace gauntlet::gpu {
namespace {

// A matrix as cuBLAS reads it. cuBLAS reads memory by columns, so it reads a
// matrix that is stored by rows as its transpose.
struct Stored {
  CublasApi::Operation operation;  // gives the transpose of our matrix
  size_t leading;
};

Stored StoredOf(const numerics::MatrixView& matrix, size_t rows,
                size_t columns) {
  if (matrix.column_stride == 1) {
    return {0, std::max(matrix.row_stride, columns)};
  }
  return {1, std::max(matrix.column_stride, rows)};
}

template <typename Function>
bool Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool OpenCublas(CublasApi* api, DeviceText* why) {
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    std::snprintf(why->text, sizeof why->text, "%s", dlerror());
    return false;
  }
  const bool found = Find(library, "cublasCreate_v2", api->create) &&
                     Find(library, "cublasDestroy_v2", api->destroy) &&
                     Find(library, "cublasSetStream_v2", api->set_stream) &&
                     Find(library, "cublasSetMathMode", api->set_math_mode) &&
                     Find(library, "cublasSgemm_v2", api->sgemm);
  if (!found) std::snprintf(why->text, sizeof why->text, "%s", dlerror());
  return found;
}

int MultiplyByCublas(const CublasApi& api, void* handle, const Product& p) {
  const Stored a = StoredOf(p.a, p.shape.m, p.shape.k);
  const Stored b = StoredOf(p.b, p.shape.k, p.shape.n);
  if (std::max({p.shape.m, p.shape.n, p.shape.k, a.leading, b.leading, p.ldc}) >
      size_t{INT_MAX}) {
    return -1;
  }
  const auto extent = [](size_t value) { return static_cast<int>(value); };
  const float one = 1.0f;
  const float zero = 0.0f;
  // Our c is stored by rows, so cuBLAS must compute its transpose, b^T a^T.
  return api.sgemm(handle, b.operation, a.operation, extent(p.shape.n),
                   extent(p.shape.m), extent(p.shape.k), &one, p.b.data,
                   extent(b.leading), p.a.data, extent(a.leading), &zero, p.c,
                   extent(p.ldc));
}

}  // namespace gauntlet::gpu
