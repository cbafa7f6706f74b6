// Products by cuBLAS: with a stand-in that has the column order of cuBLAS, and
// without the library.
#include "engine/gpu/cublas_products.h"

#include <climits>
#include <vector>

#include <gtest/gtest.h>

#include "engine/gpu/device_kernels.h"
#include "engine/gpu/emulated_device.h"

namespace gauntlet {
namespace {

using gpu::CublasApi;
using gpu::MultiplyByCublas;

// A plain sgemm that follows the documentation of cuBLAS, and checks what the
// documentation requires of the arguments. The tests multiply whole numbers, so
// that each order of summation gives the same bits.
int PlainSgemm(void*, int a_operation, int b_operation, int m, int n, int k,
               const float* alpha, const float* a, int lda, const float* b,
               int ldb, const float* beta, float* c, int ldc) {
  const int a_rows = a_operation == 0 ? m : k;
  const int b_rows = b_operation == 0 ? k : n;
  if (lda < a_rows || ldb < b_rows || ldc < m || *alpha != 1 || *beta != 0) {
    return 7;  // CUBLAS_STATUS_INVALID_VALUE
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l) {
        sum += (a_operation == 0 ? a[i + l * lda] : a[l + i * lda]) *
               (b_operation == 0 ? b[l + j * ldb] : b[j + l * ldb]);
      }
      c[i + j * ldc] = sum;
    }
  }
  return 0;
}

CublasApi PlainLibrary() {
  CublasApi api;
  api.sgemm = PlainSgemm;
  return api;
}

struct Case {
  size_t m, n, k;
  Transpose a = Transpose::kNo;
  Transpose b = Transpose::kNo;
};

std::vector<float> Numbers(size_t size) {
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = static_cast<float>(i * 7 % 11) - 5.0f;
  return values;
}

// Uses whole numbers, so that the order of a sum does not matter.
void ExpectOurProduct(const Case& c, size_t beyond) {
  const bool a_turned = c.a == Transpose::kYes;
  const bool b_turned = c.b == Transpose::kYes;
  const size_t lda = (a_turned ? c.m : c.k) + beyond;
  const size_t ldb = (b_turned ? c.k : c.n) + beyond;
  const size_t ldc = c.n + beyond;
  const std::vector<float> a = Numbers((a_turned ? c.k : c.m) * lda);
  const std::vector<float> b = Numbers((b_turned ? c.n : c.k) * ldb);
  std::vector<float> ours(c.m * ldc, -1.0f);
  std::vector<float> theirs = ours;
  Kernels::Create({.isa = Isa::kScalar})
      .value()
      ->MatMul({.m = c.m,
                .n = c.n,
                .k = c.k,
                .a = a.data(),
                .lda = lda,
                .transpose_a = c.a,
                .b = b.data(),
                .ldb = ldb,
                .transpose_b = c.b,
                .c = ours.data(),
                .ldc = ldc});
  const Product product = {
      .shape = {c.m, c.n, c.k},
      .a = {a.data(), a_turned ? 1 : lda, a_turned ? lda : 1},
      .b = {b.data(), b_turned ? 1 : ldb, b_turned ? ldb : 1},
      .c = theirs.data(),
      .ldc = ldc};
  EXPECT_EQ(MultiplyByCublas(PlainLibrary(), nullptr, product), 0);
  EXPECT_EQ(ours, theirs) << c.m << " x " << c.n << " x " << c.k;
}

TEST(CublasProductsTest, RowsAndColumnsAreTurnedAsItTakesThem) {
  for (const Transpose a : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose b : {Transpose::kNo, Transpose::kYes}) {
      for (const size_t beyond : {0, 3}) {
        ExpectOurProduct({3, 4, 5, a, b}, beyond);
        ExpectOurProduct({1, 4, 5, a, b}, beyond);
        ExpectOurProduct({3, 1, 5, a, b}, beyond);
        ExpectOurProduct({3, 4, 1, a, b}, beyond);
      }
    }
  }
}

TEST(CublasProductsTest, RefusesExtentsAboveIntMax) {
  const Product product = {.shape = {size_t{1} + INT_MAX, 1, 1},
                           .a = {nullptr, 1, 1},
                           .b = {nullptr, 1, 1},
                           .ldc = 1};
  EXPECT_NE(MultiplyByCublas(PlainLibrary(), nullptr, product), 0);
}

TEST(CublasProductsTest, ReportsADeviceWithoutCublas) {
  const auto opened =
      gpu::OpenDevice({.api = &gpu::EmulatedDevice()}, Math::kFastTf32);
  EXPECT_EQ(opened.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(
      opened.status().message(),
      "--math library-tf32: the emulated device has no library's products");
}

}  // namespace
}  // namespace gauntlet
