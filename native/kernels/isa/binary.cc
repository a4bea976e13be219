// Elementwise arithmetic of two arguments, with broadcasting.
#include <algorithm>
#include <cmath>

#include "../accumulate.h"
#include "division.h"
#include "special_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

template <typename T> T add(T x, T y) {
  return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
}
template <typename T> T subtract(T x, T y) {
  return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
}
template <typename T> T multiply(T x, T y) {
  return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
}

template <typename T> T floor_mod(T x, T y) {
  const T m = std::fmod(x, y);
  return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

template <typename Want> void add_integer_division(const char* op) {
  add_integer_division<Want, int32_t>(op);
  add_integer_division<Want, int64_t>(op);
}

template <typename T> void check_exponent(const Tensor* y) {
  const T* v = y->as<T>();
  bool negative = false;
  for (int64_t i = 0, n = y->size(); i < n; ++i) negative |= v[i] < 0;
  if (negative) throw invalid("Integers to negative integer powers are not allowed");
}

template <typename T> T integer_power(T x, T y) {
  using U = std::make_unsigned_t<T>;
  U result = 1, base = static_cast<U>(x);
  for (U e = static_cast<U>(y); e; e >>= 1, base *= base) {
    if (e & 1) result *= base;
  }
  return static_cast<T>(result);
}

inline float cube(double x) { return static_cast<float>(x * x * x); }

// A block with an infinity or a NaN in it goes to the library.
void float_power_block(const float* __restrict x, const float* __restrict y, float* __restrict z, int64_t n) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  int32_t special = 0;
  for (int64_t i = 0; i < n; ++i) special |= (magnitude(x[i]) < inf ? 0 : 1) | (magnitude(y[i]) < inf ? 0 : 1);
  if (special) {
    for (int64_t i = 0; i < n; ++i) z[i] = std::pow(x[i], y[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) z[i] = pow_finite(x[i], y[i]);
  }
}

template <bool XRepeated, bool YRepeated>
void float_power_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const float* __restrict x = static_cast<const float*>(in[0]);
  const float* __restrict y = static_cast<const float*>(in[1]);
  float* __restrict z = static_cast<float*>(out);
  if (YRepeated && *y == 2) {
    for (int64_t i = 0; i < n; ++i) z[i] = x[i] * x[i];
    return;
  }
  if (YRepeated && *y == 1) {  // as in the gradient of a square
    for (int64_t i = 0; i < n; ++i) z[i] = x[i];
    return;
  }
  if (YRepeated && *y == 3) {  // as in GELU; in double as exact as below
    for (int64_t i = 0; i < n; ++i) z[i] = cube(x[i]);
    return;
  }
  // What is repeated is laid out: with an invariant operand the block would be compiled to scalar code.
  constexpr int64_t kBlock = 256;
  float repeated[kBlock];
  if (XRepeated || YRepeated) std::fill(repeated, repeated + kBlock, XRepeated ? *x : *y);
  for (int64_t b = 0; b < n; b += kBlock) {
    float_power_block(XRepeated ? repeated : x + b, YRepeated ? repeated : y + b, z + b, std::min(kBlock, n - b));
  }
}

bool float_power(KernelCall& c) {
  static constexpr BinaryRows rows = {float_power_row<false, false>, float_power_row<false, true>,
                                      float_power_row<true, false>, nullptr};
  return map_binary(c, DType::kFloat32, 2.0, rows);
}

template <auto F, typename T> bool power_kernel(KernelCall& c) {
  return map_binary(c, DTypeOf<T>::value, 5.0, kBinaryRows<F, T, check_exponent<T>>);
}

// Shifts by less than none or more than all bits are those by none and all.
template <typename T> T shift_amount(T y) {
  constexpr T most = sizeof(T) * 8 - 1;
  return y < 0 ? T(0) : y > most ? most : y;
}

void register_arithmetic() {
  for (const char* op : {"AddV2", "Add"}) {
    add_binary<[](auto x, auto y) { return add(x, y); }, kCheap, float, double, int32_t, int64_t>(
        op);
  }
  add_binary<[](auto x, auto y) { return subtract(x, y); }, kCheap, float, double, int32_t,
             int64_t>("Sub");
  add_binary<[](auto x, auto y) { return multiply(x, y); }, kCheap, float, double, int32_t,
             int64_t>("Mul");
  for (const char* op : {"Div", "RealDiv"}) {
    add_binary<[](auto x, auto y) { return x / y; }, kCheap, float, double>(op);
  }
  add_binary<[](auto x, auto y) { const auto d = subtract(x, y); return multiply(d, d); }, kCheap,
             float, double, int32_t, int64_t>("SquaredDifference");
  // On a tie the first; a NaN of either.
  add_binary<[](auto x, auto y) { return (x < y) | (y != y) ? y : x; }, kCheap,
             float, double, int32_t, int64_t>("Maximum");
  add_binary<[](auto x, auto y) { return (y < x) | (y != y) ? y : x; }, kCheap,
             float, double, int32_t, int64_t>("Minimum");
}

void register_divisions() {
  for (const char* op : {"Div", "TruncateDiv"}) add_integer_division<TruncatedQuotient>(op);
  for (const char* op : {"Mod", "TruncateMod"}) {
    add_integer_division<TruncatedRest>(op);
    add_binary<[](auto x, auto y) { return std::fmod(x, y); }, kLibrary, float, double>(op);
  }
  add_integer_division<FloorQuotient>("FloorDiv");
  add_integer_division<FloorRest>("FloorMod");
  add_binary<[](auto x, auto y) { return std::trunc(x / y); }, kCheap, float, double>(
      "TruncateDiv");
  add_binary<[](auto x, auto y) { return std::floor(x / y); }, kCheap, float, double>("FloorDiv");
  add_binary<[](auto x, auto y) { return floor_mod(x, y); }, kLibrary, float, double>("FloorMod");
  add_binary<[]<typename T>(T x, T y) { return y == 0 ? T(0) : x / y; }, kCheap, float, double>(
      "DivNoNan");
  add_binary<[]<typename T>(T x, T y) { return y == 0 ? T(0) : x * y; }, kCheap, float, double>(
      "MulNoNan");
  add_binary<[]<typename T>(T x, T y) { return x == 0 ? T(0) : x / y; }, kCheap, float, double>(
      "Xdivy");
}

void register_transcendental() {
  add_binary<[]<typename T>(T x, T y) { return x == 0 ? T(0) : x * log(y); }, kModerate, float,
             double>("Xlogy");
  add_binary<[]<typename T>(T x, T y) { return x == 0 ? T(0) : x * log1p(y); }, kCostly, float,
             double>("Xlog1py");
  add_binary<[](auto y, auto x) { return atan2(y, x); }, kCostly, float>("Atan2");
  add_binary<[](auto y, auto x) { return std::atan2(y, x); }, kLibrary, double>("Atan2");
  register_kernel("Pow", {DType::kFloat32}, float_power);
  register_loops("Pow", DType::kFloat32,
                 {2, {DType::kFloat32, DType::kFloat32}, DType::kFloat32,
                  {float_power_row<false, false>, float_power_row<true, false>,
                   float_power_row<false, true>}, 2.0});
  add_binary<[](double x, double y) { return std::pow(x, y); }, kLibrary, double>("Pow");
  constexpr auto power = [](auto x, auto y) { return integer_power(x, y); };
  register_kernel("Pow", {DType::kInt32}, power_kernel<power, int32_t>);
  register_kernel("Pow", {DType::kInt64}, power_kernel<power, int64_t>);
}

void register_bitwise() {
  add_binary<[]<typename T>(T x, T y) { return static_cast<T>(x & y); }, kCheap, int32_t, int64_t,
             uint8_t>("BitwiseAnd");
  add_binary<[]<typename T>(T x, T y) { return static_cast<T>(x | y); }, kCheap, int32_t, int64_t,
             uint8_t>("BitwiseOr");
  add_binary<[]<typename T>(T x, T y) { return static_cast<T>(x ^ y); }, kCheap, int32_t, int64_t,
             uint8_t>("BitwiseXor");
  add_binary<[]<typename T>(T x, T y) {
    return static_cast<T>(static_cast<Wrapping<T>>(x) << shift_amount(y));
  }, kCheap, int32_t, int64_t>("LeftShift");
  add_binary<[]<typename T>(T x, T y) { return static_cast<T>(x >> shift_amount(y)); }, kCheap,
             int32_t, int64_t>("RightShift");
}

template <typename T>
void accumulate_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const T* __restrict x = static_cast<const T*>(in[0]);
  T* __restrict y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = add(y[i], x[i]);
}

constexpr auto sum = [](auto x, auto y) { return add(x, y); };

template <typename T> bool add_n(KernelCall& c) {
  return map_all(c, cost<T>(kCheap), pair_row<sum, T>, accumulate_row<T>);
}

template <typename... T> void register_sums() {
  (register_kernel("AddN", {DTypeOf<T>::value}, add_n<T>), ...);
  (register_accumulate(DTypeOf<T>::value, accumulate_row<T>), ...);
}

}  // namespace

void register_binary() {
  register_arithmetic();
  register_divisions();
  register_transcendental();
  register_bitwise();
  register_sums<float, double, int32_t, int64_t>();
}

}  // namespace tapeflow::TAPEFLOW_ISA
