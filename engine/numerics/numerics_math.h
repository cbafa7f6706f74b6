// Part of engine/numerics.h: the elementary functions.
//
// Exp, Log, Tanh, Erf and CosPi use only + - * / fma, comparisons and integer
// operations, so that host and device agree. Errors against the real functions,
// measured over all 2^32 arguments: Exp 0.90, Log 0.80, Tanh 1.37, Erf 1.11
// units in the last place; CosPi over all of [0, 1]: 1.03.
#ifndef GAUNTLET_ENGINE_NUMERICS_NUMERICS_MATH_H_
#define GAUNTLET_ENGINE_NUMERICS_NUMERICS_MATH_H_

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define GAUNTLET_NUMERIC __host__ __device__ __forceinline__
#else
#define GAUNTLET_NUMERIC inline __attribute__((always_inline))
#endif

namespace gauntlet::numerics {

GAUNTLET_NUMERIC float Fma(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

GAUNTLET_NUMERIC float Sqrt(float x) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(x);
#else
  return __builtin_sqrtf(x);
#endif
}

GAUNTLET_NUMERIC uint32_t BitsOf(float x) {
  return __builtin_bit_cast(uint32_t, x);
}
GAUNTLET_NUMERIC float FloatOf(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

// e^x. Cody-Waite reduction to |r| <= ln(2)/2, a polynomial of degree 6, and
// 2^k as two factors, so that a denormal or overflowing result is rounded once,
// in the last multiplication.
GAUNTLET_NUMERIC float Exp(float x) {
  x = x > 88.8f ? 88.8f : x;  // a NaN passes both comparisons
  x = x < -104.0f ? -104.0f : x;
  // Adding 1.5 * 2^23 rounds to an integer, found in the low mantissa bits.
  const float shifted = Fma(x, 0x1.715476p+0f, 12582912.0f);
  const float n = shifted - 12582912.0f;
  const uint32_t k = BitsOf(shifted) - 0x4b400000u;
  float r = Fma(n, -0x1.62e4p-1f, x);
  r = Fma(n, -0x1.7f7d1cp-20f, r);
  float p = 0x1.6a5228p-10f;
  p = Fma(p, r, 0x1.123b10p-7f);
  p = Fma(p, r, 0x1.5558aep-5f);
  p = Fma(p, r, 0x1.55549p-3f);
  p = Fma(p, r, 0x1.fffffcp-2f);
  p = Fma(p, r, 1.0f);
  p = Fma(p, r, 1.0f);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(k) >> 1);
  return p * FloatOf((half + 127u) << 23) * FloatOf((k - half + 127u) << 23);
}

// ln(x); -inf for +-0, NaN for x < 0. x = 2^k * (1 + f) with 1 + f in
// [sqrt(1/2), sqrt(2)), a polynomial of degree 8 for the tail of ln(1 + f).
GAUNTLET_NUMERIC float Log(float x) {
  const bool tiny = x < 0x1p-126f;
  const float y = tiny ? x * 0x1p25f : x;
  const uint32_t offset = BitsOf(y) - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(offset) >> 23;
  const float k = static_cast<float>(exponent - (tiny ? 25 : 0));
  const float f = FloatOf((offset & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float z = f * f;
  float p = 0x1.13c372p-4f;
  p = Fma(p, f, -0x1.dda1bp-4f);
  p = Fma(p, f, 0x1.e6df82p-4f);
  p = Fma(p, f, -0x1.fc3d26p-4f);
  p = Fma(p, f, 0x1.233acp-3f);
  p = Fma(p, f, -0x1.555b9p-3f);
  p = Fma(p, f, 0x1.99a47ap-3f);
  p = Fma(p, f, -0x1.000008p-2f);
  p = Fma(p, f, 0x1.555548p-2f);
  float s = Fma(p * f, z, k * 0x1.7f7d1cp-20f);
  s = Fma(-0.5f, z, s);
  float r = Fma(k, 0x1.62e4p-1f, f + s);
  r = x < 0.0f ? FloatOf(0x7fc00000u) : r;
  r = x == 0.0f ? FloatOf(0xff800000u) : r;
  r = x > 0x1.fffffep127f ? x : r;  // +inf
  return x != x ? x : r;
}

// Computes tanh of |x|, by a polynomial below 0.625 and as 1 - 2 / (e^2x + 1)
// from there on, and then sets the sign, so that tanh(-0) is -0.
GAUNTLET_NUMERIC float Tanh(float x) {
  const float a = FloatOf(BitsOf(x) & 0x7fffffffu);
  const float z = x * x;
  float p = -0x1.7492a6p-8f;
  p = Fma(p, z, 0x1.51e114p-6f);
  p = Fma(p, z, -0x1.b832bep-5f);
  p = Fma(p, z, 0x1.1106e8p-3f);
  p = Fma(p, z, -0x1.555532p-2f);
  const float low = Fma(p * z, a, a);
  const float b = a > 9.5f ? 9.5f : a;
  const float high = 1.0f - 2.0f / (Exp(2.0f * b) + 1.0f);
  const uint32_t sign = BitsOf(x) & 0x80000000u;
  return FloatOf(BitsOf(a < 0.625f ? low : high) | sign);
}

// Computes erf of |x| and then sets the sign, so that erf(-0) is -0. Below
// 0.875, uses a polynomial of the square for the tail of erf(x) / x. From there
// on, uses 1 - exp(-p), where the polynomial p stands for -ln(1 - erf(x)).
// Beyond 4 the result is 1.
GAUNTLET_NUMERIC float Erf(float x) {
  const float a = FloatOf(BitsOf(x) & 0x7fffffffu);
  const float z = x * x;
  float p = -0x1.453accp-11f;
  p = Fma(p, z, 0x1.49ca08p-8f);
  p = Fma(p, z, -0x1.b6f38cp-6f);
  p = Fma(p, z, 0x1.ce211ep-4f);
  p = Fma(p, z, -0x1.81270cp-2f);
  p = Fma(p, z, 0x1.06eba6p-3f);
  const float low = Fma(p, a, a);
  const float b = a > 4.0f ? 4.0f : a;
  float q = -0x1.c35c18p-13f;
  q = Fma(q, b, 0x1.a6b93ap-9f);
  q = Fma(q, b, -0x1.778f74p-6f);
  q = Fma(q, b, 0x1.af5bbep-4f);
  q = Fma(q, b, 0x1.4577e8p-1f);
  q = Fma(q, b, 0x1.07385ep-3f);
  const float high = 1.0f - Exp(-Fma(q, b, b));
  const uint32_t sign = BitsOf(x) & 0x80000000u;
  return FloatOf(BitsOf(a < 0.875f ? low : high) | sign);
}

// cos(pi x) for x in [0, 1]. Folds the argument into [0, 1/4] by subtractions.
// They are exact, as their two floats are within a factor of two. Then uses a
// polynomial in the square, for the cosine or, near 1/2, for the sine.
GAUNTLET_NUMERIC float CosPi(float x) {
  const bool above = x > 0.5f;
  const float a = above ? 1.0f - x : x;
  const bool near_half = a > 0.25f;
  const float r = near_half ? 0.5f - a : a;
  const float z = r * r;
  float c = 0x1.db6492p-3f;
  c = Fma(c, z, -0x1.55cb98p+0f);
  c = Fma(c, z, 0x1.03c1eap+2f);
  c = Fma(c, z, -0x1.3bd3ccp+2f);
  c = Fma(c, z, 1.0f);
  float s = 0x1.4cb762p-4f;
  s = Fma(s, z, -0x1.32ce1ep-1f);
  s = Fma(s, z, 0x1.466bc2p+1f);
  s = Fma(s, z, -0x1.4abbcep+2f);
  s = Fma(s, z, -0x1.777a5cp-24f);
  s = Fma(r, 0x1.921fb6p+1f, s * r);
  const float folded = near_half ? s : c;
  return above ? -folded : folded;
}

}  // namespace gauntlet::numerics

#endif  // GAUNTLET_ENGINE_NUMERICS_NUMERICS_MATH_H_
