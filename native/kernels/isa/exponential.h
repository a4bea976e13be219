// exp of a vector; at most 2 ulp off, exact at 0, subnormal results included.
// Reduction to [-ln 2 / 2, ln 2 / 2] and the polynomials are those of Cephes (expf.c, exp.c).
#pragma once
#include <limits>

#include "simd.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

inline Vec<float> scale_by_power(Vec<float> x, Vec<int32_t> n) {
  return x * (Vec<float>)((n + 127) << 23);
}
inline Vec<double> scale_by_power(Vec<double> x, Vec<int64_t> n) {
  return x * (Vec<double>)((n + 1023) << 52);
}

template <typename T> using Exponent = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// e^y = 2^whole times the result, for y within the exponents of normal numbers.
template <typename T> inline Vec<T> exponential_parts(Vec<T> y, Vec<Exponent<T>>* whole) {
  using Int = Exponent<T>;
  constexpr bool single = sizeof(T) == 4;
  // Adding 1.5 * 2^(mantissa bits) rounds to an integer, which then stands in the low bits.
  const Vec<T> magic = broadcast_lane(single ? T(12582912) : T(6755399441055744));
  const Vec<T> shifted = y * T(1.44269504088896340736) + magic;
  const Vec<T> n = shifted - magic;
  *whole = (Vec<Int>)shifted - (Vec<Int>)magic;
  if constexpr (single) {
    Vec<T> r = y - n * T(0.693359375);
    r = r - n * T(-2.12194440e-4);
    Vec<T> p = r * T(1.9875691500e-4) + T(1.3981999507e-3);
    p = p * r + T(8.3334519073e-3);
    p = p * r + T(4.1665795894e-2);
    p = p * r + T(1.6666665459e-1);
    p = p * r + T(5.0000001201e-1);
    return p * (r * r) + r + T(1);
  } else {
    Vec<T> r = y - n * T(6.93145751953125e-1);
    r = r - n * T(1.42860682030941723212e-6);
    const Vec<T> z = r * r;
    const Vec<T> p =
        r * ((z * T(1.26177193074810590878e-4) + T(3.02994407707441961300e-2)) * z + T(1));
    const Vec<T> q = ((z * T(3.00198505138664455042e-6) + T(2.52448340349684104192e-3)) * z +
                      T(2.27265548208155028766e-1)) *
                         z +
                     T(2.00000000000000000009);
    return T(1) + T(2) * (p / (q - p));
  }
}

template <typename T> inline Vec<T> exponential(Vec<T> x) {
  constexpr bool single = sizeof(T) == 4;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Vec<T> highest = broadcast_lane(single ? T(88.72283935546875) : T(709.782712893384));
  const Vec<T> lowest = broadcast_lane(single ? T(-104) : T(-746));
  // NaN fails both comparisons and stays.
  Vec<T> y = x > highest ? highest : x;
  y = y < lowest ? lowest : y;
  Vec<Exponent<T>> whole;
  Vec<T> result = exponential_parts<T>(y, &whole);
  // In two steps: 2^n alone leaves the range at both ends.
  const Vec<Exponent<T>> half = whole >> 1;
  result = scale_by_power(scale_by_power(result, half), whole - half);
  return x > highest ? broadcast_lane(inf) : result;
}

// The same for x <= 0 or NaN, where a subnormal result is as good as 0, which it is here.
template <typename T> inline Vec<T> exponential_of_negative(Vec<T> x) {
  const Vec<T> lowest = broadcast_lane(sizeof(T) == 4 ? T(-87.3) : T(-708.3));
  Vec<Exponent<T>> whole;
  const Vec<T> parts = exponential_parts<T>(lowest > x ? lowest : x, &whole);
  return lowest > x ? Vec<T>{} : scale_by_power(parts, whole);
}

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
