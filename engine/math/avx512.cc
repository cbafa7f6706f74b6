// Compiled for AVX-512 (F, BW, DQ, VL); see isa_kernels.h for permitted
// includes.
#include "engine/math/isa_kernels.h"
#include <immintrin.h>

namespace gauntlet {
namespace {

struct Vec {
  using T = __m512;
  using Mask = __mmask16;
  static constexpr int kLanes = 16;
  static constexpr int kTileRows = 14;
  GAUNTLET_NUMERIC static T Zero() { return _mm512_setzero_ps(); }
  GAUNTLET_NUMERIC static T Load(const float* p) { return _mm512_loadu_ps(p); }
  GAUNTLET_NUMERIC static T Broadcast(const float* p) {
    return _mm512_set1_ps(*p);
  }
  GAUNTLET_NUMERIC static T Add(T a, T b) { return _mm512_add_ps(a, b); }
  GAUNTLET_NUMERIC static T Fma(T a, T b, T c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  GAUNTLET_NUMERIC static void Store(float* p, T v) { _mm512_storeu_ps(p, v); }
  // Selects the first `lanes` lanes.
  GAUNTLET_NUMERIC static Mask MaskOf(size_t lanes) {
    return static_cast<Mask>((1u << lanes) - 1);
  }
  GAUNTLET_NUMERIC static T MaskedLoad(Mask mask, const float* p) {
    return _mm512_maskz_loadu_ps(mask, p);
  }
  GAUNTLET_NUMERIC static void MaskedStore(Mask mask, float* p, T v) {
    _mm512_mask_storeu_ps(p, mask, v);
  }
  // Transposes the 16 x 16 square whose rows are r[0] ... r[15].
  static void Transpose(T* r) {
    T t[16];
    for (int i = 0; i < 16; i += 2) {
      t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
      r[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
      r[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
      r[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
      r[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
      t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
      t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
      t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; ++i) {
      r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
      r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
      r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
      r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
    }
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

const IsaKernels& Avx512Kernels() { return kKernels; }

}  // namespace gauntlet
