// Comparisons and logic: results are bool.
#include "../broadcast.h"
#include "elementwise_rows.h"
#include "simd.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512F__)

// 32 masks of 4 bytes as booleans, one byte each.
inline __m256i as_booleans(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  const __m256i in_order = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  return _mm256_and_si256(in_order, _mm256_set1_epi8(1));
}
// Masks of 8 bytes as ones of 4.
inline __m256i halved(__m256i a, __m256i b) {
  const __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
  return _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xd8);
}

// The compiler packs masks in twice as many steps. Operands whose bits are set in kSingle are one element.
template <auto F, typename T, int kSingle> int64_t compare_blocks(const T* x, const T* y, uint8_t* z, int64_t n) {
  constexpr int lanes = kLanes<T>;
  const auto left = broadcast_lane(*x), right = broadcast_lane(*y);
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const auto mask = [&](int k) {
      return (__m256i)F(kSingle & 1 ? left : load(x + i + k * lanes), kSingle & 2 ? right : load(y + i + k * lanes));
    };
    __m256i result;
    if constexpr (sizeof(T) == 4)
      result = as_booleans(mask(0), mask(1), mask(2), mask(3));
    else
      result = as_booleans(halved(mask(0), mask(1)), halved(mask(2), mask(3)), halved(mask(4), mask(5)), halved(mask(6), mask(7)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(z + i), result);
  }
  return i;
}
template <typename T> constexpr bool kInBlocks = sizeof(T) >= 4;

#else

template <auto F, typename T, int kSingle> int64_t compare_blocks(const T*, const T*, uint8_t*, int64_t);
template <typename T> constexpr bool kInBlocks = false;

#endif

template <auto F, typename T, int kSingle> void compare_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  constexpr Row rest = kSingle == 0 ? pair_row<F, T> : kSingle == 1 ? scalar_left_row<F, T> : scalar_right_row<F, T>;
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  auto* const z = static_cast<uint8_t*>(out);
  int64_t done = 0;
  if constexpr (kInBlocks<T>) done = n >= 32 ? compare_blocks<F, T, kSingle>(x, y, z, n) : 0;
  const void* const rest_in[] = {kSingle & 1 ? x : x + done, kSingle & 2 ? y : y + done};
  if (done < n) rest(rest_in, z + done, n - done, attrs);
}

template <auto F, typename T> bool compare(KernelCall& c) {
  static constexpr BinaryRows rows = {compare_row<F, T, 0>, compare_row<F, T, 2>, compare_row<F, T, 1>, nullptr};
  return map_binary(c, DType::kBool, cost<T>(kCheap), rows);
}

template <auto F, typename T> void add_compare_loops(const char* op) {
  constexpr DType d = DTypeOf<T>::value;
  register_loops(op, d, {2, {d, d}, DType::kBool, {compare_row<F, T, 0>, compare_row<F, T, 1>, compare_row<F, T, 2>},
                         cost<T>(kCheap), nullptr, pair_single<F, T>});
}

TAPEFLOW_ATTRS(EqualityAttrs, incompatible_shape_error);

// Shapes that do not broadcast are unequal as a whole, unless the op insists: left to the row.
template <auto F, typename T> bool equality(KernelCall& c, const EqualityAttrs& attrs) {
  if (!attrs.incompatible_shape_error.b() && !broadcastable(c.in[0]->shape, c.in[1]->shape)) return false;
  return compare<F, T>(c);
}

template <auto F, typename... T> void add_equality(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, named<equality<F, T>>), ...);
  (add_compare_loops<F, T>(op), ...);
}

template <auto F, typename... T> void add_orderings(const char* op) {
  (register_kernel(op, {DTypeOf<T>::value}, compare<F, T>), ...);
  (add_compare_loops<F, T>(op), ...);
}
template <auto F> void add_ordering(const char* op) { add_orderings<F, float, double, int32_t, int64_t, uint8_t>(op); }

// Without a type variable.
template <auto F> void add_logical(const char* op) {
  register_kernel(op, {DType::kInvalid}, binary_kernel<F, kCheap, bool>);
  add_binary_loops<F, kCheap, bool>(op);
}

}  // namespace

void register_compare() {
  add_ordering<[](auto x, auto y) { return x < y; }>("Less");
  add_ordering<[](auto x, auto y) { return x <= y; }>("LessEqual");
  add_ordering<[](auto x, auto y) { return y < x; }>("Greater");
  add_ordering<[](auto x, auto y) { return y <= x; }>("GreaterEqual");
  add_equality<[](auto x, auto y) { return x == y; }, float, double, int32_t, int64_t, uint8_t,
               bool>("Equal");
  add_equality<[](auto x, auto y) { return x != y; }, float, double, int32_t, int64_t, uint8_t,
               bool>("NotEqual");
  add_logical<[](bool x, bool y) { return static_cast<bool>(x & y); }>("LogicalAnd");
  add_logical<[](bool x, bool y) { return static_cast<bool>(x | y); }>("LogicalOr");
}

}  // namespace tapeflow::TAPEFLOW_ISA
