// The loops of reductions. Sums of floats are taken in short runs that are then added in double or
// as a tree, so that the error stays small however many there are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "../accumulate.h"
#include "../reduction.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif
constexpr int64_t kRun = 2048;    // elements of a row after which its accumulators are added up
constexpr int64_t kTile = 512;    // columns folded at a time
constexpr int64_t kRows = 1024;   // rows folded before they join the accumulator

template <typename T> T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}
template <typename T> T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

// A reduction: load an element, join accumulators, finish. The runs of a row are joined in Total.
template <typename T, typename Accumulator = T> struct Sum {
  using Element = T;
  using Acc = Accumulator;
  using Total = std::conditional_t<std::is_same_v<Acc, float>, double, Acc>;
  using Out = T;
  static constexpr bool keeps_single = true;
  static Acc zero() { return 0; }
  static Acc load(T x) { return static_cast<Acc>(x); }
  template <typename A> static A join(A a, A b) { return wrapping_add(a, b); }
  static T finish(Acc a, int64_t) { return static_cast<T>(a); }
};
template <typename T> struct Mean : Sum<T, std::conditional_t<std::is_integral_v<T>, int64_t, T>> {
  using typename Sum<T, std::conditional_t<std::is_integral_v<T>, int64_t, T>>::Acc;
  static T finish(Acc a, int64_t n) {
    if constexpr (std::is_integral_v<T>) return n == 0 ? T(0) : static_cast<T>(a / n);
    else return a / static_cast<T>(n);
  }
};
template <typename T> struct EuclideanNorm : Sum<T> {
  static constexpr bool keeps_single = false;
  static T load(T x) { return wrapping_multiply(x, x); }
  static T finish(T a, int64_t) { return static_cast<T>(std::sqrt(a)); }
};
template <typename T> struct HalfSquares : Sum<T> {
  static constexpr bool keeps_single = false;
  static T load(T x) { return x * x; }
  static T finish(T a, int64_t) { return a / 2; }
};
template <typename T> struct Plain {
  using Element = T;
  using Acc = T;
  using Total = T;
  using Out = T;
  static constexpr bool keeps_single = true;
  static T load(T x) { return x; }
  static T finish(T a, int64_t) { return a; }
};
template <typename T> struct Prod : Plain<T> {
  static T zero() { return 1; }
  static T join(T a, T b) { return wrapping_multiply(a, b); }
};
// A NaN once in an accumulator stays, as nothing compares with it.
template <typename T> struct Max : Plain<T> {
  using Limits = std::numeric_limits<T>;
  static T zero() { return Limits::has_infinity ? -Limits::infinity() : Limits::lowest(); }
  static T join(T a, T b) { const T m = b > a ? b : a; return b != b ? b : m; }
};
template <typename T> struct Min : Plain<T> {
  using Limits = std::numeric_limits<T>;
  static T zero() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
  static T join(T a, T b) { const T m = b < a ? b : a; return b != b ? b : m; }
};
// Bytes of bool tensors are 0 or 1.
struct Bytes : Plain<uint8_t> { using Out = bool; };
struct All : Bytes {
  static uint8_t zero() { return 1; }
  static uint8_t join(uint8_t a, uint8_t b) { return a & b; }
};
struct Any : Bytes {
  static uint8_t zero() { return 0; }
  static uint8_t join(uint8_t a, uint8_t b) { return a | b; }
};

template <class R> void identity(void* acc, int64_t n) {
  auto* a = static_cast<typename R::Acc*>(acc);
  for (int64_t i = 0; i < n; ++i) a[i] = R::zero();
}

template <class R> void combine(void* acc, const void* other, int64_t n) {
  auto* __restrict a = static_cast<typename R::Acc*>(acc);
  const auto* __restrict b = static_cast<const typename R::Acc*>(other);
  for (int64_t i = 0; i < n; ++i) a[i] = R::join(a[i], b[i]);
}

template <class R> void finish(const void* acc, int64_t n, int64_t count, void* out) {
  const auto* a = static_cast<const typename R::Acc*>(acc);  // may be the same memory
  auto* y = static_cast<typename R::Element*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = R::finish(a[i], count);
}

// Joins `lanes` elements at a time from x[i] on, the last few filled up with identities; advances i.
template <class R, int64_t lanes>
void reduce_lanes(const typename R::Element* x, int64_t n, int64_t& i, typename R::Total& total) {
  using Acc = typename R::Acc;
  while (i + lanes <= n) {
    const int64_t end = std::min(n, i + kRun);
    Acc acc[lanes];
    for (int64_t j = 0; j < lanes; ++j) acc[j] = R::load(x[i + j]);
    for (i += lanes; i + lanes <= end; i += lanes) {
      for (int64_t j = 0; j < lanes; ++j) acc[j] = R::join(acc[j], R::load(x[i + j]));
    }
    if (n - i < lanes) {
      typename R::Element rest[lanes];
      for (int64_t j = 0; j < lanes; ++j) rest[j] = static_cast<typename R::Element>(R::zero());
      std::copy(x + i, x + n, rest);
      for (int64_t j = 0; j < lanes; ++j) acc[j] = R::join(acc[j], R::load(rest[j]));
      i = n;
    }
    for (int64_t width = lanes / 2; width > 0; width /= 2) {
      for (int64_t j = 0; j < width; ++j) acc[j] = R::join(acc[j], acc[j + width]);
    }
    total = R::join(total, static_cast<typename R::Total>(acc[0]));
  }
}

template <class R> typename R::Total reduce_row(const typename R::Element* x, int64_t n) {
  using Total = typename R::Total;
  // Fewer would be unrolled before the compiler thinks of vectors.
  constexpr int64_t few = 32;
  constexpr int64_t many = std::max<int64_t>(few, 4 * kVectorBytes / sizeof(typename R::Element));
  Total total = static_cast<Total>(R::zero());
  int64_t i = 0;
  if (n >= 2 * many) reduce_lanes<R, many>(x, n, i, total);
  else reduce_lanes<R, few>(x, n, i, total);
  for (; i < n; ++i) total = R::join(total, static_cast<Total>(R::load(x[i])));
  return total;
}

template <class R> void reduce_rows(void* acc, const void* data, int64_t rows, int64_t n) {
  auto* a = static_cast<typename R::Acc*>(acc);
  const auto* x = static_cast<const typename R::Element*>(data);
  for (int64_t i = 0; i < rows; ++i, x += n) {
    a[i] = R::join(a[i], static_cast<typename R::Acc>(reduce_row<R>(x, n)));
  }
}

// Eight rows at a time join as a tree before they meet the accumulators.
template <class R>
void fold_tile(typename R::Acc* __restrict a, const typename R::Element* __restrict x, int64_t rows,
               int64_t stride, int64_t n) {
  for (; rows >= 8; rows -= 8, x += 8 * stride) {
    for (int64_t i = 0; i < n; ++i) {
      const auto at = [&](int64_t r) { return R::load(x[r * stride + i]); };
      const auto low = R::join(R::join(at(0), at(1)), R::join(at(2), at(3)));
      const auto high = R::join(R::join(at(4), at(5)), R::join(at(6), at(7)));
      a[i] = R::join(a[i], R::join(low, high));
    }
  }
  for (; rows > 0; --rows, x += stride) {
    for (int64_t i = 0; i < n; ++i) a[i] = R::join(a[i], R::load(x[i]));
  }
}

template <class R>
void fold_rows(void* acc, const void* data, int64_t rows, int64_t stride, int64_t n) {
  using Acc = typename R::Acc;
  auto* a = static_cast<Acc*>(acc);
  const auto* x = static_cast<const typename R::Element*>(data);
  alignas(64) Acc tile[kTile];
  if (stride == n && n <= kTile / 8 && rows >= 32) {
    // Narrow rows: several side by side make one wide enough for vectors.
    const int64_t side = std::min(kTile / 2 / n, rows / 16), width = side * n;
    identity<R>(tile, width);
    fold_rows<R>(tile, x, rows / side, width, width);
    for (int64_t s = 0; s < side; ++s) combine<R>(a, tile + s * n, n);
    x += rows / side * width;
    rows %= side;
  }
  for (int64_t c = 0; c < n; c += kTile) {
    const int64_t columns = std::min(kTile, n - c);
    if (rows <= kRows) {
      fold_tile<R>(a + c, x + c, rows, stride, columns);
      continue;
    }
    for (int64_t r = 0; r < rows; r += kRows) {
      identity<R>(tile, columns);
      fold_tile<R>(tile, x + r * stride + c, std::min(kRows, rows - r), stride, columns);
      combine<R>(a + c, tile, columns);
    }
  }
}

template <class R>
constexpr Reducer kReducer = {sizeof(typename R::Acc),
                              DTypeOf<typename R::Out>::value,
                              R::keeps_single,
                              0.05 * sizeof(typename R::Element),
                              identity<R>,
                              reduce_rows<R>,
                              fold_rows<R>,
                              combine<R>,
                              finish<R>};

TAPEFLOW_ATTRS(ReduceAttrs, keep_dims);

template <class R> bool along_axes(KernelCall& c, const ReduceAttrs& attrs) {
  return reduce_along_axes(c, attrs.keep_dims.b(), kReducer<R>);
}

template <class R> bool over_all(KernelCall& c) {
  bool reduced[kMaxRank];
  std::fill(reduced, reduced + c.in[0]->rank(), true);
  const ShapeRef scalar(Shape::scalar());
  c.out[0] = reduce(c.in[0], reduced, scalar.get(), kReducer<R>);
  return true;
}

template <typename... T> void add_reductions() {
  (register_kernel("Sum", {DTypeOf<T>::value}, named<along_axes<Sum<T>>>), ...);
  (register_kernel("Prod", {DTypeOf<T>::value}, named<along_axes<Prod<T>>>), ...);
  (register_kernel("Max", {DTypeOf<T>::value}, named<along_axes<Max<T>>>), ...);
  (register_kernel("Min", {DTypeOf<T>::value}, named<along_axes<Min<T>>>), ...);
  (register_kernel("Mean", {DTypeOf<T>::value}, named<along_axes<Mean<T>>>), ...);
  (register_kernel("EuclideanNorm", {DTypeOf<T>::value}, named<along_axes<EuclideanNorm<T>>>), ...);
  (register_sum(DTypeOf<T>::value, &kReducer<Sum<T>>), ...);
}

}  // namespace

void register_reduce() {
  add_reductions<float, double, int32_t, int64_t>();
  // Their one type variable is that of the axes.
  register_kernel("All", {DType::kInt32, DType::kInt64}, named<along_axes<All>>);
  register_kernel("Any", {DType::kInt32, DType::kInt64}, named<along_axes<Any>>);
  register_kernel("L2Loss", {DType::kFloat32}, over_all<HalfSquares<float>>);
  register_kernel("L2Loss", {DType::kFloat64}, over_all<HalfSquares<double>>);
}

}  // namespace tapeflow::TAPEFLOW_ISA
