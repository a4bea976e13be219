// Zeta (Hurwitz's) and Polygamma inside their usual domains; elsewhere their Python kernels answer.
//
// Sources: DLMF 25.11.5 with 2.10.1 (Euler and Maclaurin's formula after the first terms), 5.15.1 (polygamma by zeta),
// 24.2.1 (Bernoulli's numbers).
#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/registry.h"

namespace tapeflow {
namespace {

// B_2k / (2k)!
constexpr double kBernoulliOverFactorial[] = {
    1.0 / 12,           -1.0 / 720,           1.0 / 30240,           -1.0 / 1209600,           1.0 / 47900160,
    -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000, 43867.0 / 5109094217170944000,
    -174611.0 / 802857662698291200000.0};
constexpr double kLargestWholePower = 16, kLargestOrder = 170;  // 171! is beyond double

// x^-s, whole powers by multiplication.
double inverse_power(double x, double s) {
  if (s > kLargestWholePower || s != std::floor(s)) return std::pow(x, -s);
  double product = 1, square = x;
  for (auto n = static_cast<unsigned>(s); n; n >>= 1, square *= square) {
    if (n & 1) product *= square;
  }
  return 1 / product;
}

// For s > 1, q > 0: terms up to q + n >= 10 + s, the rest by the formula. Where the terms are negligible before that,
// so is the rest.
double zeta(double s, double q) {
  const double needed = std::max(std::ceil(10 + s - q), 0.0);
  const double enough = s < kLargestWholePower ? needed : std::ceil(q * std::expm1(std::min(40 / s, 30.0))) + 1;
  const double start = std::min(needed, enough);
  double total = 0;
  for (double k = 0; k < start; ++k) total += inverse_power(q + k, s);
  if (enough < needed) return total;
  const double n = q + start, term = inverse_power(n, s), inverse = 1 / n;
  double rest = term * n / (s - 1) + term / 2, factor = s * term * inverse;
  for (int k = 0; k < 10; ++k) {
    rest += kBernoulliOverFactorial[k] * factor;
    factor *= (s + 2 * k + 1) * inverse * ((s + 2 * k + 2) * inverse);
  }
  return total + rest;
}

double polygamma(double order, double x) {
  double factorial = 1;
  for (double k = 2; k <= order; ++k) factorial *= k;
  return (std::fmod(order, 2) == 0 ? -factorial : factorial) * zeta(order + 1, x);
}

using Function = double (*)(double, double);

template <Function f, typename T, int step_a, int step_x> void row(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto *a = static_cast<const T*>(in[0]), *x = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = static_cast<T>(f(static_cast<double>(a[i * step_a]), static_cast<double>(x[i * step_x])));
  }
}

template <Function f, typename T, bool (*first)(double)> bool map(KernelCall& c) {
  const Tensor *a = c.in[0], *x = c.in[1];
  if (x->dtype != a->dtype) return false;
  const auto inside = [](const Tensor* t, auto&& holds) {
    return std::all_of(t->as<T>(), t->as<T>() + t->size(), [&](T v) { return holds(static_cast<double>(v)); });
  };
  if (!inside(a, first) || !inside(x, [](double v) { return v > 0 && std::isfinite(v); })) return false;
  return map_binary(c, a->dtype, 60, {row<f, T, 1, 1>, row<f, T, 1, 0>, row<f, T, 0, 1>, nullptr});
}

bool is_exponent(double s) { return s > 1 && std::isfinite(s); }
bool is_order(double n) { return n >= 1 && n <= kLargestOrder && n == std::floor(n); }

}  // namespace

void register_zeta() {
  register_kernel("Zeta", {DType::kFloat32}, map<zeta, float, is_exponent>);
  register_kernel("Zeta", {DType::kFloat64}, map<zeta, double, is_exponent>);
  register_kernel("Polygamma", {DType::kFloat32}, map<polygamma, float, is_order>);
  register_kernel("Polygamma", {DType::kFloat64}, map<polygamma, double, is_order>);
}

}  // namespace tapeflow
