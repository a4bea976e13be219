// Inverse trigonometric, hyperbolic, error and Bessel functions of floats, written as those of vector_math.h: without
// branches, so that loops over them vectorise. Within 5 units in the last place; erfc and I0 within 10.
// Polynomials are minimax fits (Remez) to the functions named beside them.
#pragma once
#include "vector_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f;
constexpr float kPi = 3.14159274f, kPiRest = -8.74227766e-8f;
constexpr float kLn2 = 0.693147182f;

// atan a for 0 <= a <= 1: atan(a) / a of a^2.
TAPEFLOW_INLINE float atan_of_unit(float a) {
  return a * polynomial(a * a, 1.0f, -0.33333075f, 0.199926376f, -0.142037407f, 0.106411681f, -0.0750455484f,
                        0.0426922962f, -0.016067937f, 0.00284947059f);
}

TAPEFLOW_INLINE float atan(float x) {
  const float a = magnitude(x);
  const float r = atan_of_unit(a > 1 ? 1 / a : a);
  return with_sign(a > 1 ? kHalfPi - (r - kHalfPiRest) : r, x);
}

TAPEFLOW_INLINE float atan2(float y, float x) {
  const float a = magnitude(x), b = magnitude(y);
  const float larger = a > b ? a : b, smaller = a > b ? b : a;
  float t = smaller / larger;
  t = larger == 0 ? 0.0f : t;
  t = smaller == kInfinity ? 1.0f : t;
  float r = atan_of_unit(t);
  r = b > a ? kHalfPi - (r - kHalfPiRest) : r;
  r = (bits_of(x) >> 31) != 0 ? kPi - (r - kPiRest) : r;
  return x != x || y != y ? x + y : with_sign(r, y);
}

// asin s for s^2 = z <= 1/4: (asin(s) / s - 1) / z of z.
TAPEFLOW_INLINE float asin_of_half(float s, float z) {
  return s + s * z * polynomial(z, 0.166667506f, 0.0749534443f, 0.0454661548f, 0.0241952408f, 0.0421454869f);
}

// Beyond 1/2, by asin x = pi/2 - 2 asin sqrt((1 - x) / 2).
TAPEFLOW_INLINE float asin(float x) {
  const float a = magnitude(x);
  const float z = a > 0.5f ? 0.5f * (1 - a) : a * a;
  const float p = asin_of_half(a > 0.5f ? std::sqrt(z) : a, z);
  return with_sign(a > 0.5f ? kHalfPi - (2 * p - kHalfPiRest) : p, x);
}

TAPEFLOW_INLINE float acos(float x) {
  const float a = magnitude(x);
  const float z = a > 0.5f ? 0.5f * (1 - a) : a * a;
  const float p = asin_of_half(a > 0.5f ? std::sqrt(z) : a, z);
  const float far = x > 0 ? 2 * p : kPi - (2 * p - kPiRest);
  return a > 0.5f ? far : kHalfPi - (with_sign(p, x) - kHalfPiRest);
}

TAPEFLOW_INLINE float asinh(float x) {
  const float a = magnitude(x);
  const float small = log1p(a + a * a / (1 + std::sqrt(a * a + 1)));
  return with_sign(a > 1e9f ? log(a) + kLn2 : small, x);
}

TAPEFLOW_INLINE float acosh(float x) {
  const float t = x - 1;
  const float y = x > 1e9f ? log(x) + kLn2 : log1p(t + std::sqrt(2 * t + t * t));
  return x < 1 ? kNan : y;
}

TAPEFLOW_INLINE float atanh(float x) {
  const float a = magnitude(x);
  return with_sign(0.5f * log1p(2 * a / (1 - a)), x);
}

// e^a / 2, infinite no earlier than it must be.
TAPEFLOW_INLINE float half_exp(float a) {
  const float root = exp(0.5f * a);
  return 0.5f * root * root;
}

TAPEFLOW_INLINE float cosh(float x) {
  const float h = half_exp(magnitude(x));
  return h + 0.25f / h;
}

TAPEFLOW_INLINE float sinh(float x) {
  const float a = magnitude(x), h = half_exp(a), e = expm1(at_most(a, 1.0f));
  return with_sign(a < 1 ? 0.5f * (e + e / (1 + e)) : h - 0.25f / h, x);
}

TAPEFLOW_INLINE float tan_bounded(float x) {
  return x == 0 ? x : sin_quarters(x, 0) / sin_quarters(x, 1);
}

// a e^(a^2) erfc(a): of 1/a on [1, 4], of 1/a^2 beyond. The square is taken in two parts, the first of which is exact.
TAPEFLOW_INLINE float erfc(float x) {
  const float a = at_most(magnitude(x), 12.0f), u = 1 / a;
  const float near = polynomial(u - 0.625f, 0.489524782f, -0.171584994f, -0.00129521894f, 0.0720398575f, -0.0779931396f,
                                0.051204171f, -0.011119701f, -0.0397191755f, 0.0545143895f);
  const float far = polynomial(u * u, 0.564189553f, -0.282090962f, 0.422720462f, -1.03538573f, 3.06310821f, -6.57084227f);
  const float first = from_bits<float>(bits_of(a) & 0xfffff000u);
  const float tail = (a < 4 ? near : far) * u * exp(-(a - first) * (a + first)) * exp(-first * first);
  const float y = a < 1 ? 1 - erf_of_unit(a) : tail;
  return x < 0 ? 2 - y : y;
}

// erfinv(x) / x of w = -log(1 - x^2): of w up to 5, of its root beyond.
TAPEFLOW_INLINE float erfinv_over_x(float w) {
  const float s = std::sqrt(w);
  const float near = polynomial(w - 2.5f, 1.50140941f, 0.246640727f, -0.00417770771f, -0.00125370745f, 0.000218602276f,
                                -4.39679616e-6f, -3.52887469e-6f, 3.43726896e-7f, 2.85356414e-8f);
  const float far = polynomial(s - 3.25f, 3.08388543f, 1.0052563f, 0.00538117858f, -0.00371367903f, 0.00242842617f,
                               -0.00182462053f, 0.00109190494f, -0.00017690465f, -0.000104993298f);
  const float end = polynomial(s - 7, 6.86901951f, 1.00859606f, -0.0005127365f, 5.67829284e-6f, 6.10937286e-6f,
                               -1.37905818e-6f, 2.93416122e-7f, -8.80031337e-8f, 1.23906956e-8f);
  return w < 5 ? near : s < 4.25f ? far : end;
}

TAPEFLOW_INLINE float erfinv(float x) {
  const float y = x * erfinv_over_x(-log((1 - x) * (1 + x)));
  return magnitude(x) == 1 ? with_sign(kInfinity, x) : y;
}

// sqrt(2) erfinv(2 p - 1), where 1 - (2 p - 1)^2 = 4 p (1 - p) keeps its digits for small p.
TAPEFLOW_INLINE float ndtri(float p) {
  const float y = 1.41421354f * (2 * p - 1) * erfinv_over_x(-log(4 * p * (1 - p)));
  return p == 0 ? -kInfinity : p == 1 ? kInfinity : y;
}

// e^-|x| I0(x): I0 of x^2 up to 4, sqrt(x) e^-x I0(x) of 1/x beyond.
TAPEFLOW_INLINE float bessel_i0e(float x) {
  const float a = magnitude(x), z = a * a, u = 1 / a;
  const float near = exp(-at_most(a, 4.0f)) * polynomial(at_most(z, 16.0f), 1.0f, 0.25f, 0.0156249925f, 0.000434032234f,
                                                         6.78041579e-6f, 6.80069761e-8f, 4.55608024e-10f, 3.02537422e-12f);
  const float far = std::sqrt(u) * polynomial(u, 0.398942232f, 0.0498865061f, 0.0269522127f, 0.0509942435f, -0.105104864f,
                                              -0.055040136f, 5.45109367f, -12.4171448f);
  return a > 4 ? far : near;
}

// The same of I1, and I1(x) / x near 0.
TAPEFLOW_INLINE float bessel_i1e(float x) {
  const float a = magnitude(x), z = a * a, u = 1 / a;
  const float near = a * exp(-at_most(a, 4.0f)) * polynomial(at_most(z, 16.0f), 0.5f, 0.0625f, 0.00260416605f,
      5.42537709e-5f, 6.7808827e-7f, 5.66288083e-9f, 3.27465242e-11f, 1.85375708e-13f);
  const float far = std::sqrt(u) * polynomial(u, 0.398942351f, -0.149623796f, -0.0455974266f, -0.062472295f, 0.0672559962f,
                                              0.359637797f, -7.10470486f, 14.9410667f);
  return with_sign(a > 4 ? far : near, x);
}

TAPEFLOW_INLINE float undamped(float damped, float x) {
  const float root = exp(0.5f * magnitude(x));
  return magnitude(x) == kInfinity ? with_sign(kInfinity, damped) : damped * root * root;
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
