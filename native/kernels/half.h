// Numbers of 16 bits, read and written through float.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tapeflow {

struct Half { uint16_t bits; };
struct BFloat16 { uint16_t bits; };

inline uint32_t float_bits(float f) {
  uint32_t x;
  std::memcpy(&x, &f, sizeof x);
  return x;
}

inline float bits_float(uint32_t x) {
  float f;
  std::memcpy(&f, &x, sizeof f);
  return f;
}

// Rounds to nearest even.
inline Half to_half(float f) {
  const uint32_t x = float_bits(f);
  const uint32_t sign = x >> 16 & 0x8000, magnitude = x & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};   // NaN
  if (magnitude >= 0x47800000) return {static_cast<uint16_t>(sign | 0x7c00)};  // above all halves
  if (magnitude < 0x38800000) {  // below the smallest normal half: let float addition do the rounding
    return {static_cast<uint16_t>(sign | (float_bits(std::abs(f) + 0.5f) - 0x3f000000))};
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23);
  return {static_cast<uint16_t>(sign | rounded >> 13)};
}

inline BFloat16 to_bfloat16(float f) {
  const uint32_t x = float_bits(f);
  if (std::isnan(f)) return {static_cast<uint16_t>(x >> 16 | 0x40)};
  return {static_cast<uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16)};
}

inline float to_float(Half h) {
  const uint32_t sign = (h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00) return bits_float(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  const float value = std::ldexp(bits_float(magnitude << 13), 112);  // exact, below the smallest normal half too
  return sign ? -value : value;
}

}  // namespace tapeflow
