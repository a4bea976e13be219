// Strings hashed into buckets, by the formulas of ops/string/hashing.py and hashing_keyed.py.
#include <cstring>
#include <utility>

#include "kernels/text_hash.h"
#include "kernels/texts.h"

namespace tapeflow {
namespace {

constexpr uint64_t k0 = 0xC3A5C85C97CB3127, k1 = 0xB492B66FBE98F273, k2 = 0x9AE16A3B2F90404F;

uint64_t word(const char* s) {
  uint64_t x;
  std::memcpy(&x, s, sizeof x);
  return x;
}

uint64_t half_word(const char* s) {
  uint32_t x;
  std::memcpy(&x, s, sizeof x);
  return x;
}

uint64_t right(uint64_t x, int by) { return x >> by | x << (64 - by); }
uint64_t left(uint64_t x, int by) { return x << by | x >> (64 - by); }
uint64_t mixed(uint64_t x) { return x ^ x >> 47; }

uint64_t pair(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = mixed((u ^ v) * factor);
  return mixed((v ^ a) * factor) * factor;
}

uint64_t up_to_16(const char* s, size_t n) {
  const uint64_t factor = k2 + n * 2;
  if (n >= 8) {
    const uint64_t a = word(s) + k2, b = word(s + n - 8);
    return pair(right(b, 37) * factor + a, (right(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return pair(n + (half_word(s) << 3), half_word(s + n - 4), factor);
  if (n == 0) return k2;
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(s[i])); };
  const uint64_t y = byte(0) + (byte(n >> 1) << 8), z = n + (byte(n - 1) << 2);
  return mixed(y * k2 ^ z * k0) * k2;
}

uint64_t up_to_64(const char* s, size_t n) {
  const uint64_t factor = k2 + n * 2;
  const uint64_t a = word(s) * (n <= 32 ? k1 : k2), b = word(s + 8);
  const uint64_t c = word(s + n - 8) * factor, d = word(s + n - 16) * k2;
  const uint64_t y = right(a + b, 43) + right(c, 30) + d;
  const uint64_t z = pair(y, a + right(b + k2, 18) + c, factor);
  if (n <= 32) return z;
  const uint64_t e = word(s + 16) * factor, f = word(s + 24);
  const uint64_t g = (y + word(s + n - 32)) * factor, h = (z + word(s + n - 24)) * factor;
  return pair(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, factor);
}

struct Two {
  uint64_t first = 0, second = 0;
};

Two weak(const char* s, uint64_t a, uint64_t b) {
  const uint64_t z = word(s + 24);
  a += word(s);
  b = right(b + a + z, 21);
  const uint64_t c = a;
  a += word(s + 8) + word(s + 16);
  b += right(a, 44);
  return {a + z, b + c};
}

struct Long {
  uint64_t x, y, z;
  Two v, w;

  // One step over 64 bytes; the last one differs in two factors.
  void block(const char* s, uint64_t factor, uint64_t nine) {
    x = right(x + y + v.first + word(s + 8), 37) * factor;
    y = right(y + v.second + word(s + 48), 42) * factor;
    x ^= w.second * nine;
    y += v.first * nine + word(s + 40);
    z = right(z + w.first, 33) * factor;
    v = weak(s, v.second * factor, x + w.first);
    w = weak(s + 32, z + w.second, y + word(s + 16));
    std::swap(x, z);
  }
};

}  // namespace

uint64_t fingerprint64(std::string_view text) {
  const char* s = text.data();
  const size_t n = text.size();
  if (n <= 16) return up_to_16(s, n);
  if (n <= 64) return up_to_64(s, n);
  Long h{81 * k2 + word(s), 81 * k1 + 113, 0, {}, {}};
  h.z = mixed(h.y * k2 + 113) * k2;
  const size_t rest = (n - 1) & 63, end = n - 1 - rest;
  for (size_t at = 0; at < end; at += 64) h.block(s + at, k1, 1);
  const uint64_t factor = k1 + ((h.z & 0xFF) << 1);
  h.w.first += rest;
  h.v.first += h.w.first;
  h.w.first += h.v.first;
  h.block(s + n - 64, factor, 9);
  return pair(pair(h.v.first, h.w.first, factor) + mixed(h.y) * k0 + h.z,
              pair(h.v.second, h.w.second, factor) + h.x, factor);
}

namespace {

// SipHash-2-4 (Aumasson and Bernstein, 2012).
struct SipHash {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1, v2 += v3;
    v1 = left(v1, 13) ^ v0, v3 = left(v3, 16) ^ v2;
    v0 = left(v0, 32) + v3, v2 += v1;
    v1 = left(v1, 17) ^ v2, v3 = left(v3, 21) ^ v0;
    v2 = left(v2, 32);
  }
  void take(uint64_t w) {
    v3 ^= w;
    round();
    round();
    v0 ^= w;
  }
};

uint64_t siphash(uint64_t a, uint64_t b, std::string_view text) {
  SipHash h{a ^ 0x736F6D6570736575, b ^ 0x646F72616E646F6D, a ^ 0x6C7967656E657261, b ^ 0x7465646279746573};
  const size_t whole = text.size() & ~size_t{7};
  for (size_t at = 0; at < whole; at += 8) h.take(word(text.data() + at));
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  std::memcpy(&last, text.data() + whole, text.size() - whole);
  h.take(last);
  h.v2 ^= 0xFF;
  for (int i = 0; i < 4; ++i) h.round();
  return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

// MurmurHash64A (Austin Appleby).
uint64_t murmur64(std::string_view text) {
  constexpr uint64_t factor = 0xC6A4A7935BD1E995;
  uint64_t h = 0xDECAFCAFFE ^ text.size() * factor;
  const size_t whole = text.size() & ~size_t{7};
  for (size_t at = 0; at < whole; at += 8) h = (h ^ mixed(word(text.data() + at) * factor) * factor) * factor;
  if (whole < text.size()) {
    uint64_t last = 0;
    std::memcpy(&last, text.data() + whole, text.size() - whole);
    h = (h ^ last) * factor;
  }
  return mixed(mixed(h) * factor);
}

template <typename Hash>
bool hashed(KernelCall& c, int64_t buckets, Hash&& hash) {
  if (buckets < 1) return false;
  return numbers_of_texts<int64_t>(c, DType::kInt64, [&](std::string_view text, int64_t* out) {
    *out = static_cast<int64_t>(hash(text) % static_cast<uint64_t>(buckets));
    return true;
  });
}

TAPEFLOW_ATTRS(BucketAttrs, num_buckets);

bool fast(KernelCall& c, const BucketAttrs& attrs) { return hashed(c, attrs.num_buckets.i, fingerprint64); }
bool legacy(KernelCall& c, const BucketAttrs& attrs) { return hashed(c, attrs.num_buckets.i, murmur64); }

TAPEFLOW_ATTRS(StrongAttrs, num_buckets, key);

bool strong(KernelCall& c, const StrongAttrs& attrs) {
  if (attrs.key.n != 2) return false;
  const auto a = static_cast<uint64_t>(attrs.key.ints[0]), b = static_cast<uint64_t>(attrs.key.ints[1]);
  return hashed(c, attrs.num_buckets.i, [=](std::string_view text) { return siphash(a, b, text); });
}

}  // namespace

void register_text_hashes() {
  register_kernel("StringToHashBucketFast", {DType::kInvalid}, named<fast>);
  register_kernel("StringToHashBucket", {DType::kInvalid}, named<legacy>);
  register_kernel("StringToHashBucketStrong", {DType::kInvalid}, named<strong>);
}

}  // namespace tapeflow
