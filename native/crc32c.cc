// The processor's own instruction where it has one, else eight tables.
#include "crc32c.h"

#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace tapeflow {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;

// at[k][b]: what byte b, with k bytes after it in a word of 8, adds to the checksum.
struct Tables {
  uint32_t at[8][256];
  Tables() {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t value = b;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? kPolynomial : 0);
      at[0][b] = value;
    }
    for (int k = 1; k < 8; ++k) {
      for (int b = 0; b < 256; ++b) at[k][b] = (at[k - 1][b] >> 8) ^ at[0][at[k - 1][b] & 255];
    }
  }
};

uint32_t by_tables(uint32_t state, const uint8_t* data, size_t size) {
  static const Tables tables;
  const auto& at = tables.at;
  for (; size >= 8; data += 8, size -= 8) {
    // Byte by byte, so that the order of bytes in this machine's words does not matter.
    const uint32_t low = state ^ (uint32_t{data[0]} | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 | uint32_t{data[3]} << 24);
    state = at[7][low & 255] ^ at[6][low >> 8 & 255] ^ at[5][low >> 16 & 255] ^ at[4][low >> 24] ^ at[3][data[4]] ^
            at[2][data[5]] ^ at[1][data[6]] ^ at[0][data[7]];
  }
  for (; size; ++data, --size) state = (state >> 8) ^ at[0][(state ^ *data) & 255];
  return state;
}

#if defined(__x86_64__) || defined(__ARM_FEATURE_CRC32)

#if defined(__x86_64__)
#define TAPEFLOW_CRC_TARGET __attribute__((target("sse4.2")))
TAPEFLOW_CRC_TARGET inline uint32_t add_word(uint32_t state, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(state, word));
}
TAPEFLOW_CRC_TARGET inline uint32_t add_byte(uint32_t state, uint8_t byte) { return _mm_crc32_u8(state, byte); }
#else
#define TAPEFLOW_CRC_TARGET
inline uint32_t add_word(uint32_t state, uint64_t word) { return __crc32cd(state, word); }
inline uint32_t add_byte(uint32_t state, uint8_t byte) { return __crc32cb(state, byte); }
#endif

// The instruction takes three cycles and can begin in each: three lanes keep it busy.
constexpr size_t kLane = 2048;

// What a state becomes by a lane of zeros: as that is linear, what each of its bytes becomes, and their sum.
struct Zeros {
  uint32_t at[4][256];
  Zeros() {
    static const uint8_t zeros[kLane] = {};
    uint32_t bits[32];
    for (int i = 0; i < 32; ++i) bits[i] = by_tables(uint32_t{1} << i, zeros, kLane);
    for (int k = 0; k < 4; ++k) {
      for (int b = 0; b < 256; ++b) {
        at[k][b] = 0;
        for (int i = 0; i < 8; ++i) at[k][b] ^= b >> i & 1 ? bits[8 * k + i] : 0;
      }
    }
  }
  uint32_t after(uint32_t state) const {
    return at[0][state & 255] ^ at[1][state >> 8 & 255] ^ at[2][state >> 16 & 255] ^ at[3][state >> 24];
  }
};

inline uint64_t word_at(const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, 8);
  return word;
}

TAPEFLOW_CRC_TARGET uint32_t by_instruction(uint32_t state, const uint8_t* data, size_t size) {
  if (size >= 3 * kLane) {
    static const Zeros zeros;
    for (; size >= 3 * kLane; data += 3 * kLane, size -= 3 * kLane) {
      uint32_t second = 0, third = 0;
      for (size_t i = 0; i < kLane; i += 8) {
        state = add_word(state, word_at(data + i));
        second = add_word(second, word_at(data + kLane + i));
        third = add_word(third, word_at(data + 2 * kLane + i));
      }
      state = zeros.after(zeros.after(state) ^ second) ^ third;
    }
  }
  for (; size >= 8; data += 8, size -= 8) state = add_word(state, word_at(data));
  for (; size; ++data, --size) state = add_byte(state, *data);
  return state;
}
#endif

using Update = uint32_t (*)(uint32_t, const uint8_t*, size_t);

Update best_update() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) return by_instruction;
#elif defined(__ARM_FEATURE_CRC32)
  return by_instruction;
#endif
  return by_tables;
}

}  // namespace

uint32_t crc32c(const void* data, size_t size, uint32_t before) {
  static const Update update = best_update();
  return ~update(~before, static_cast<const uint8_t*>(data), size);
}

}  // namespace tapeflow
