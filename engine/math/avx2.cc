// Compiled for AVX2 and FMA3; see isa_kernels.h for permitted includes.
#include "engine/math/isa_kernels.h"
#include <immintrin.h>

namespace gauntlet {
namespace {

alignas(32) constexpr int32_t kMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                            0,  0,  0,  0,  0,  0,  0,  0};

struct Vec {
  using T = __m256;
  using Mask = __m256i;
  static constexpr int kLanes = 8;
  static constexpr int kTileRows = 6;
  GAUNTLET_NUMERIC static T Zero() { return _mm256_setzero_ps(); }
  GAUNTLET_NUMERIC static T Load(const float* p) { return _mm256_loadu_ps(p); }
  GAUNTLET_NUMERIC static T Broadcast(const float* p) {
    return _mm256_broadcast_ss(p);
  }
  GAUNTLET_NUMERIC static T Add(T a, T b) { return _mm256_add_ps(a, b); }
  GAUNTLET_NUMERIC static T Fma(T a, T b, T c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  GAUNTLET_NUMERIC static void Store(float* p, T v) { _mm256_storeu_ps(p, v); }
  // Selects the first `lanes` lanes.
  GAUNTLET_NUMERIC static Mask MaskOf(size_t lanes) {
    return _mm256_loadu_si256(
        reinterpret_cast<const __m256i*>(kMasks + kLanes - lanes));
  }
  GAUNTLET_NUMERIC static T MaskedLoad(Mask mask, const float* p) {
    return _mm256_maskload_ps(p, mask);
  }
  GAUNTLET_NUMERIC static void MaskedStore(Mask mask, float* p, T v) {
    _mm256_maskstore_ps(p, mask, v);
  }
  // Transposes the 8 x 8 square whose rows are r[0] ... r[7].
  static void Transpose(T* r) {
    T t[8];
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
      t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
      r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
      r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
      r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
      t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    for (int i = 0; i < 8; ++i) r[i] = t[i];
  }
};

#include "engine/math/elementwise.inc"
#include "engine/math/lanes.inc"
#include "engine/math/product.inc"
// Included after product.inc, whose names it uses.
#include "engine/math/convolution.inc"
// Included last, as it uses functions of the other files.
#include "engine/math/vector_table.inc"

}  // namespace

const IsaKernels& Avx2Kernels() { return kKernels; }

}  // namespace gauntlet
