// Elementwise functions of one argument.
#include <cmath>

#include "elementwise_rows.h"
#include "simd.h"
#include "special_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// sin and cos by blocks: one with an argument too large for the fast reduction goes to the library.
template <auto Fast, auto Exact>
void trigonometric_row(const void* const* in, void* out, int64_t n, const Attr*) {
  const float* __restrict x = static_cast<const float*>(in[0]);
  float* __restrict y = static_cast<float*>(out);
  constexpr int64_t kBlock = 256;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t end = b + kBlock < n ? b + kBlock : n;
    int32_t large = 0;
    for (int64_t i = b; i < end; ++i) large |= magnitude(x[i]) <= trigonometric_limit ? 0 : 1;
    if (large) {
      for (int64_t i = b; i < end; ++i) y[i] = Exact(x[i]);
    } else {
      for (int64_t i = b; i < end; ++i) y[i] = Fast(x[i]);
    }
  }
}

template <auto Fast, auto Exact> bool trigonometric(KernelCall& c) {
  return map_unary(c, DType::kFloat32, cost<float>(kCostly), trigonometric_row<Fast, Exact>);
}

template <auto Fast, auto Exact> void add_trigonometric(const char* op) {
  register_kernel(op, {DType::kFloat32}, trigonometric<Fast, Exact>);
  register_loops(op, DType::kFloat32, {1, {DType::kFloat32}, DType::kFloat32,
                                       {trigonometric_row<Fast, Exact>}, cost<float>(kCostly)});
}

template <typename T> T negate(T x) { return static_cast<T>(-static_cast<Wrapping<T>>(x)); }

template <typename T> T sign(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>((x > 0) - (x < 0));
  else return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x;
}

template <typename T> T square(T x) {
  return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
}

template <typename T> T log_gamma(T x) {
  int sign_of_gamma;  // std::lgamma would write it to a global, from many threads
  if constexpr (std::is_same_v<T, float>) return ::lgammaf_r(x, &sign_of_gamma);
  else return ::lgamma_r(x, &sign_of_gamma);
}

// Reflection for negative x, recurrence up to 10, then the asymptotic series (DLMF 5.11.2).
template <typename T> T digamma(T value) {
  double x = static_cast<double>(value), y = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<T>::quiet_NaN();
    const double pi = 3.14159265358979323846;
    y = -pi / std::tan(pi * (x - std::nearbyint(x)));
    x = 1 - x;
  }
  for (; x < 10; ++x) y -= 1 / x;
  const double z = 1 / (x * x);
  const double series = polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                   -691.0 / 32760, 1.0 / 12);
  return static_cast<T>(y + std::log(x) - 0.5 / x - z * series);
}

void register_arithmetic() {
  add_unary<[](auto x) { return negate(x); }, kCheap, float, double, int32_t, int64_t>("Neg");
  add_unary<[](auto x) { return magnitude(x); }, kCheap, float, double>("Abs");
  add_unary<[](auto x) { return x < 0 ? negate(x) : x; }, kCheap, int32_t, int64_t>("Abs");
  add_unary<[](auto x) { return sign(x); }, kCheap, float, double, int32_t, int64_t>("Sign");
  add_unary<[](auto x) { return square(x); }, kCheap, float, double, int32_t, int64_t>("Square");
  for (const char* op : {"Reciprocal", "Inv"}) {
    add_unary<[](auto x) { return 1 / x; }, kCheap, float, double>(op);
  }
  add_unary<[](auto x) { return std::sqrt(x); }, kModerate, float, double>("Sqrt");
  add_unary<[](auto x) { return 1 / std::sqrt(x); }, kModerate, float, double>("Rsqrt");
  add_unary<[](auto x) { return std::floor(x); }, kCheap, float, double>("Floor");
  add_unary<[](auto x) { return std::ceil(x); }, kCheap, float, double>("Ceil");
  for (const char* op : {"Round", "Rint"}) {  // half to even
    add_unary<[](auto x) { return std::nearbyint(x); }, kCheap, float, double>(op);
  }
  constexpr auto logical_not = [](bool x) { return !x; };
  register_kernel("LogicalNot", {DType::kInvalid}, unary_kernel<logical_not, kCheap, bool>);
  add_unary_loops<logical_not, kCheap, bool>("LogicalNot");
  add_unary<[](auto x) { return static_cast<decltype(x)>(~x); }, kCheap, int32_t, int64_t, uint8_t>(
      "Invert");
  add_unary<[](auto x) { return x != x; }, kCheap, float, double>("IsNan");
  add_unary<[]<typename T>(T x) { return magnitude(x) == std::numeric_limits<T>::infinity(); },
            kCheap, float, double>("IsInf");
  add_unary<[]<typename T>(T x) { return magnitude(x) < std::numeric_limits<T>::infinity(); },
            kCheap, float, double>("IsFinite");
}

void register_exponential() {
  add_unary<[](auto x) { return exp(x); }, kModerate, float, double>("Exp");
  add_unary<[](auto x) { return expm1(x); }, kModerate, float, double>("Expm1");
  add_unary<[](auto x) { return log(x); }, kModerate, float, double>("Log");
  add_unary<[](auto x) { return log1p(x); }, kCostly, float, double>("Log1p");
  add_unary<[](auto x) { return tanh(x); }, kModerate, float, double>("Tanh");
  add_unary<[](auto x) { return sigmoid(x); }, kModerate, float, double>("Sigmoid");
  add_unary<[](auto x) { return softplus(x); }, kCostly, float, double>("Softplus");
}

void register_special_functions() {
  add_trigonometric<[](float x) { return tan_bounded(x); }, [](float x) { return std::tan(x); }>("Tan");
  add_unary<[](auto x) { return asin(x); }, kModerate, float>("Asin");
  add_unary<[](auto x) { return acos(x); }, kModerate, float>("Acos");
  add_unary<[](auto x) { return atan(x); }, kModerate, float>("Atan");
  add_unary<[](auto x) { return sinh(x); }, kCostly, float>("Sinh");
  add_unary<[](auto x) { return cosh(x); }, kCostly, float>("Cosh");
  add_unary<[](auto x) { return asinh(x); }, kCostly, float>("Asinh");
  add_unary<[](auto x) { return acosh(x); }, kCostly, float>("Acosh");
  add_unary<[](auto x) { return atanh(x); }, kCostly, float>("Atanh");
  add_unary<[](auto x) { return erfc(x); }, kCostly, float>("Erfc");
  add_unary<[](auto x) { return erfinv(x); }, kCostly, float>("Erfinv");
  add_unary<[](auto x) { return ndtri(x); }, kCostly, float>("Ndtri");
  add_unary<[](auto x) { return bessel_i0e(x); }, kCostly, float>("BesselI0e");
  add_unary<[](auto x) { return bessel_i1e(x); }, kCostly, float>("BesselI1e");
  add_unary<[](auto x) { return undamped(bessel_i0e(x), x); }, kCostly, float>("BesselI0");
  add_unary<[](auto x) { return undamped(bessel_i1e(x), x); }, kCostly, float>("BesselI1");
}

void register_library_functions() {
  add_trigonometric<[](float x) { return sin_bounded(x); }, [](float x) { return std::sin(x); }>(
      "Sin");
  add_trigonometric<[](float x) { return cos_bounded(x); }, [](float x) { return std::cos(x); }>(
      "Cos");
  add_unary<[](auto x) { return std::sin(x); }, kLibrary, double>("Sin");
  add_unary<[](auto x) { return std::cos(x); }, kLibrary, double>("Cos");
  add_unary<[](auto x) { return erf(x); }, kCostly, float>("Erf");
  add_unary<[](auto x) { return std::erf(x); }, kLibrary, double>("Erf");
  add_unary<[](auto x) { return std::erfc(x); }, kLibrary, double>("Erfc");
  add_unary<[](auto x) { return std::tan(x); }, kLibrary, double>("Tan");
  add_unary<[](auto x) { return std::asin(x); }, kLibrary, double>("Asin");
  add_unary<[](auto x) { return std::acos(x); }, kLibrary, double>("Acos");
  add_unary<[](auto x) { return std::atan(x); }, kLibrary, double>("Atan");
  add_unary<[](auto x) { return std::sinh(x); }, kLibrary, double>("Sinh");
  add_unary<[](auto x) { return std::cosh(x); }, kLibrary, double>("Cosh");
  add_unary<[](auto x) { return std::asinh(x); }, kLibrary, double>("Asinh");
  add_unary<[](auto x) { return std::acosh(x); }, kLibrary, double>("Acosh");
  add_unary<[](auto x) { return std::atanh(x); }, kLibrary, double>("Atanh");
  add_unary<[](auto x) { return log_gamma(x); }, kLibrary, float, double>("Lgamma");
  add_unary<[](auto x) { return digamma(x); }, kLibrary, float, double>("Digamma");
}

}  // namespace

void register_unary() {
  register_arithmetic();
  register_exponential();
  register_special_functions();
  register_library_functions();
}

}  // namespace tapeflow::TAPEFLOW_ISA
