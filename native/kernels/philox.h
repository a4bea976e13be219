// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) and what TensorFlow makes of its
// bits: the same key and counter give the same numbers.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tapeflow {

struct Philox {
  uint32_t counter[4] = {0, 0, 0, 0};
  uint32_t key[2] = {0, 0};

  Philox() = default;
  Philox(uint64_t key_bits, uint64_t counter_lo, uint64_t counter_hi) {
    key[0] = static_cast<uint32_t>(key_bits);
    key[1] = static_cast<uint32_t>(key_bits >> 32);
    set_counter(counter_lo, counter_hi);
  }
  uint64_t key_bits() const { return key[0] | uint64_t{key[1]} << 32; }
  uint64_t counter_lo() const { return counter[0] | uint64_t{counter[1]} << 32; }
  uint64_t counter_hi() const { return counter[2] | uint64_t{counter[3]} << 32; }
  void set_counter(uint64_t lo, uint64_t hi) {
    counter[0] = static_cast<uint32_t>(lo);
    counter[1] = static_cast<uint32_t>(lo >> 32);
    counter[2] = static_cast<uint32_t>(hi);
    counter[3] = static_cast<uint32_t>(hi >> 32);
  }
  // Skips n blocks of 4 words.
  void skip(uint64_t n) {
    const uint64_t lo = counter_lo() + n;
    set_counter(lo, counter_hi() + (lo < n));
  }
};

// The next `blocks` blocks of 4 words each, in order; g moves on.
void philox_blocks(Philox& g, uint32_t* out, int64_t blocks);

// Words one by one.
class PhiloxWords {
 public:
  explicit PhiloxWords(const Philox& g) : g_(g) {}
  uint32_t operator()() {
    if (used_ == 4) {
      philox_blocks(g_, words_, 1);
      used_ = 0;
    }
    return words_[used_++];
  }

 private:
  Philox g_;
  uint32_t words_[4];
  int used_ = 4;
};

// Uniform in [0, 1): the random bits become the mantissa of a number in [1, 2).
inline float unit_float(uint32_t x) {
  const uint32_t bits = (x & 0x7fffffu) | 127u << 23;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f - 1.0f;
}
inline double unit_double(uint32_t x0, uint32_t x1) {
  const uint64_t bits = uint64_t{x0 & 0xfffffu} << 32 | x1 | uint64_t{1023} << 52;
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d - 1.0;
}

constexpr double kPi = 3.14159265358979323846;

// Two independent standard normals from two uniforms (Box and Muller).
inline void normal_pair(uint32_t x0, uint32_t x1, float* out) {
  float u = unit_float(x0);
  if (u < 1.0e-7f) u = 1.0e-7f;  // its logarithm is taken
  const float angle = static_cast<float>(2 * kPi * unit_float(x1));  // rounded once, as there
  const float radius = std::sqrt(-2.0f * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}
inline void normal_pair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, double* out) {
  double u = unit_double(x0, x1);
  if (u < 1.0e-7) u = 1.0e-7;
  const double angle = 2 * kPi * unit_double(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

// Doubles in [0, 1) and normals from one generator, each drawn in pairs of which the second comes first.
class PhiloxDoubles {
 public:
  explicit PhiloxDoubles(const Philox& g) : g_(g) {}
  double uniform() {
    if (uniforms_ == 0) {
      uint32_t w[4];
      philox_blocks(g_, w, 1);
      uniform_[0] = unit_double(w[0], w[1]);
      uniform_[1] = unit_double(w[2], w[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  double normal() {
    if (normals_ == 0) {
      uint32_t w[4];
      philox_blocks(g_, w, 1);
      normal_pair(w[0], w[1], w[2], w[3], normal_);
      normals_ = 2;
    }
    return normal_[--normals_];
  }

 private:
  Philox g_;
  double uniform_[2], normal_[2];
  int uniforms_ = 0, normals_ = 0;
};

}  // namespace tapeflow
