// Elementary functions written so that loops over them vectorise: no branches, only selects and bit
// casts, correct for NaN, infinities, -0 and denormals. Within about 2 units in the last place.
// Polynomials are minimax fits (Remez) to the functions named beside them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../../kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

#define TAPEFLOW_INLINE inline __attribute__((always_inline))

// The parts of a floating-point format. Integers are taken from and put into the low mantissa bits
// of a large constant: unlike conversions and shifts of 64 bits, this vectorises everywhere.
template <typename T> struct Format;

template <> struct Format<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23;
  static constexpr Bits bias = 127;
  static constexpr float round = 0x1.8p23f;       // x + round - round is x rounded to an integer
  static constexpr float whole = 0x1p23f;
  static constexpr float log2e = 1.44269504f;
  static constexpr float ln2_hi = 0x1.63p-1f, ln2_lo = -2.12194440e-4f;
  static constexpr float sqrt_half = 0.707106781f;
  static constexpr float exp_min = -104.0f, exp_max = 89.0f;      // beyond: 0, infinity
  static constexpr float expm1_min = -17.5f;                      // below: -1
  static constexpr float tanh_max = 10.0f;                        // beyond: 1
  static constexpr float min_normal = 0x1p-126f, denormal_scale = 0x1p25f, denormal_shift = 25;
};

template <> struct Format<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52;
  static constexpr Bits bias = 1023;
  static constexpr double round = 0x1.8p52;
  static constexpr double whole = 0x1p52;
  static constexpr double log2e = 1.4426950408889634;
  static constexpr double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
  static constexpr double sqrt_half = 0.70710678118654757;
  static constexpr double exp_min = -746.0, exp_max = 710.0;
  static constexpr double expm1_min = -37.5;
  static constexpr double tanh_max = 22.0;
  static constexpr double min_normal = 0x1p-1022, denormal_scale = 0x1p54, denormal_shift = 54;
};

template <typename T> TAPEFLOW_INLINE typename Format<T>::Bits bits_of(T x) {
  return std::bit_cast<typename Format<T>::Bits>(x);
}
template <typename T> TAPEFLOW_INLINE T from_bits(typename Format<T>::Bits b) {
  return std::bit_cast<T>(b);
}

template <typename T> TAPEFLOW_INLINE T magnitude(T x) {
  return from_bits<T>(bits_of(x) & (~typename Format<T>::Bits{0} >> 1));
}
// |x| with the sign of s.
template <typename T> TAPEFLOW_INLINE T with_sign(T x, T s) {
  constexpr auto rest = ~typename Format<T>::Bits{0} >> 1;
  return from_bits<T>((bits_of(x) & rest) | (bits_of(s) & ~rest));
}

// The NaN of x passes through both.
template <typename T> TAPEFLOW_INLINE T at_most(T x, T top) { return x > top ? top : x; }
template <typename T> TAPEFLOW_INLINE T at_least(T x, T bottom) { return x < bottom ? bottom : x; }

template <typename T, typename... Rest>
TAPEFLOW_INLINE T polynomial(T, T c) { return c; }
template <typename T, typename... Rest>
TAPEFLOW_INLINE T polynomial(T x, T c, Rest... rest) {
  return polynomial(x, static_cast<T>(rest)...) * x + c;
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
TAPEFLOW_INLINE float exp_tail(float r) {
  return polynomial(r, 0.499999981f, 0.166665434f, 0.0416672007f, 0.00836654711f, 0.00138825168f);
}
TAPEFLOW_INLINE double exp_tail(double r) {
  return polynomial(r, 0.50000000000000052, 0.16666666666666589, 0.041666666666576468,
                    0.0083333333333897179, 0.0013888888931667042, 0.00019841269718747658,
                    2.4801505142813384e-5, 2.7557407651024815e-6, 2.7626092781248915e-7,
                    2.505378727954738e-8);
}

// e^x = 2^n (1 + q)
template <typename T> struct ExpParts { typename Format<T>::Bits n; T q; };

template <typename T> TAPEFLOW_INLINE ExpParts<T> exp_parts(T x) {
  using F = Format<T>;
  const T shifted = x * F::log2e + F::round;
  const T k = shifted - F::round;
  const T r = (x - k * F::ln2_hi) - k * F::ln2_lo;
  return {bits_of(shifted) - bits_of(F::round), r + r * r * exp_tail(r)};
}

// 2^n for n within the exponents of normal numbers.
template <typename T> TAPEFLOW_INLINE T power_of_two(typename Format<T>::Bits n) {
  return from_bits<T>((n + Format<T>::bias) << Format<T>::mantissa);
}

template <typename T> TAPEFLOW_INLINE T exp(T x) {
  using F = Format<T>;
  const auto [n, q] = exp_parts(at_least(at_most(x, F::exp_max), F::exp_min));
  // In two steps, so that results become denormal or infinite where they should.
  const auto half = ((n + 4096) >> 1) - 2048;
  return (1 + q) * power_of_two<T>(half) * power_of_two<T>(n - half);
}

// e^x for x <= 0 or NaN; what is below the normal numbers counts as 0.
TAPEFLOW_INLINE float exp_of_negative(float x) {
  constexpr float lowest = -87.0f;
  const auto [n, q] = exp_parts(at_least(x, lowest));
  return x < lowest ? 0.0f : (1 + q) * power_of_two<float>(n);
}

template <typename T> TAPEFLOW_INLINE T expm1(T x) {
  using F = Format<T>;
  const auto [n, q] = exp_parts(at_least(at_most(x, F::exp_max), F::expm1_min));
  const T s = power_of_two<T>(n - 1);
  const T y = 2 * (s * q + (s - T(0.5)));
  return x == 0 ? x : y;
}

// tanh x = (e^2x - 1) / (e^2x + 1), from the accurate e^2x - 1.
template <typename T> TAPEFLOW_INLINE T tanh(T x) {
  using F = Format<T>;
  const T a = at_most(magnitude(x), F::tanh_max);
  // The exponent's bias rides in the rounding constant, so that one shift makes the power of two.
  constexpr T round = F::round + static_cast<T>(F::bias);
  const T shifted = a * (2 * F::log2e) + round;
  const T k = shifted - round;
#ifdef __FMA__
  // What ln 2 lacks matters only where tanh is flat.
  const T r = 2 * a - k * (F::ln2_hi + F::ln2_lo);
#else
  const T r = (2 * a - k * F::ln2_hi) - k * F::ln2_lo;
#endif
  const T q = r + r * r * exp_tail(r);
  const T s = from_bits<T>(bits_of(shifted) << F::mantissa);
  const T m = s * q + (s - 1);
  return with_sign(m / (m + 2), x);
}

// log(1 + f) - f for sqrt(1/2) <= 1 + f < sqrt(2).
TAPEFLOW_INLINE float log_tail(float f) {
  const float p =
      polynomial(f, 0.333333126f, -0.250000096f, 0.200021185f, -0.166679955f, 0.142195546f,
                 -0.124055965f, 0.118881536f, -0.116756042f, 0.0674660281f);
  return f * f * (f * p - 0.5f);
}
TAPEFLOW_INLINE double log_tail(double f) {
  // log((1+s)/(1-s)) = 2s + s R(s^2), with s = f / (2 + f).
  const double s = f / (2 + f), z = s * s, h = 0.5 * f * f;
  const double r = z * polynomial(z, 0.66666666666667349, 0.39999999999410773, 0.2857142874333944,
                                  0.22222198467547252, 0.18183570206447929, 0.15313890618025894,
                                  0.14797640712983428);
  return s * (h + r) - h;
}

// log(u) + c/u for u > 0 and tiny c; infinite or NaN u is the caller's.
template <typename T> TAPEFLOW_INLINE T log_positive(T u, T c) {
  using F = Format<T>;
  const bool denormal = u < F::min_normal;
  u = denormal ? u * F::denormal_scale : u;
  constexpr auto low = std::bit_cast<typename F::Bits>(F::sqrt_half);
  const auto shifted = bits_of(u) - low + (F::bias << F::mantissa);
  constexpr auto exponent_bits = std::bit_cast<typename F::Bits>(F::whole);
  const T e = from_bits<T>((shifted >> F::mantissa) | exponent_bits) -
              (F::whole + static_cast<T>(F::bias)) - (denormal ? F::denormal_shift : T(0));
  const T m = from_bits<T>((shifted & ((typename F::Bits{1} << F::mantissa) - 1)) + low);
  const T f = m - 1;
  return e * F::ln2_hi + (f + (log_tail(f) + (e * F::ln2_lo + c)));
}

// What log is at the edges: y is its value for normal positive x.
template <typename T> TAPEFLOW_INLINE T log_edges(T x, T y) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  y = x < inf ? y : x;              // infinity and NaN
  y = x == 0 ? -inf : y;
  return x < 0 ? std::numeric_limits<T>::quiet_NaN() : y;
}

template <typename T> TAPEFLOW_INLINE T log(T x) { return log_edges(x, log_positive(x, T(0))); }

template <typename T> TAPEFLOW_INLINE T log1p(T x) {
  const T u = 1 + x;
  // What rounding took from u; of the two forms one is exact.
  const T lost = x > 1 ? 1 - (u - x) : x - (u - 1);
  const T y = log_edges(u, log_positive(u, lost / u));
  return x == 0 ? x : y;
}

template <typename T> TAPEFLOW_INLINE T sigmoid(T x) { return 1 / (1 + exp(-x)); }

// log(1 + e^x)
template <typename T> TAPEFLOW_INLINE T softplus(T x) {
  return log1p(exp(-magnitude(x))) + at_least(x, T(0));
}

// sin or cos of |x| <= trigonometric_limit; a quarter turn added makes the one the other.
constexpr float trigonometric_limit = 8192.0f;

TAPEFLOW_INLINE float sin_quarters(float x, uint32_t quarters) {
  using F = Format<float>;
  const float shifted = x * 0.636619772f + F::round;
  const float k = shifted - F::round;
  // pi/2 in parts of 11 bits, whose products with k are exact.
  const float r =
      (((x - k * 0x1.92p0f) - k * 0x1.fb4p-12f) - k * 0x1.444p-24f) - k * 0x1.68c234p-39f;
  const uint32_t n = bits_of(shifted) + quarters;
  const float z = r * r;
  const float s =
      r + r * z * polynomial(z, -0.166666666f, 0.00833332936f, -0.000198393271f, 2.71823728e-6f);
  const float c =
      1 + z * (z * polynomial(z, 0.0416666467f, -0.00138873615f, 2.44377301e-5f) - 0.5f);
  const float y = (n & 1) != 0 ? c : s;
  return from_bits<float>(bits_of(y) ^ ((n & 2) << 30));
}
TAPEFLOW_INLINE float sin_bounded(float x) {
  return x == 0 ? x : sin_quarters(x, 0);
}
TAPEFLOW_INLINE float cos_bounded(float x) { return sin_quarters(x, 1); }

// erf a for 0 <= a <= 1.
TAPEFLOW_INLINE float erf_of_unit(float a) {
  return a * polynomial(a * a, 1.12837917f, -0.376126258f, 0.112835851f, -0.026853812f, 0.00518832773f,
                        -0.000801019403f, 7.85386266e-5f);
}

TAPEFLOW_INLINE float erf(float x) {
  const float a = at_most(magnitude(x), 4.0f);
  // -log(1 - erf(a)) on [1, 4]
  const float large = 1 - exp(-polynomial(a, -0.000196665883f, 1.12962207f, 0.633124995f,
                                          0.108534354f, -0.0252948914f, 0.00424525988f,
                                          -0.000453053003f, 2.3576263e-5f, -1.3063434e-7f));
  return with_sign(a < 1 ? erf_of_unit(a) : large, x);
}

// x^y for finite x and y, in double precision.
TAPEFLOW_INLINE float pow_finite(float x, float y) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const double wide = magnitude(x);
  float p = static_cast<float>(exp(static_cast<double>(y) * log_positive(wide, 0.0)));
  p = x == 0 ? (y < 0 ? inf : 0.0f) : p;
  p = y == 0 ? 1.0f : p;
  const float half = y * 0.5f;
  const bool odd = std::nearbyint(y) == y && std::nearbyint(half) != half;
  const uint32_t sign = odd ? bits_of(x) & 0x80000000u : 0u;
  p = from_bits<float>(bits_of(p) ^ sign);
  return x < 0 && std::nearbyint(y) != y ? std::numeric_limits<float>::quiet_NaN() : p;
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
