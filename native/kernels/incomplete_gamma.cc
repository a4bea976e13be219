// Igamma, Igammac and their derivatives by a: IgammaGradA and RandomGammaGrad.
//
// Power series for the lower function (DLMF 8.7.1), a continued fraction for the upper one (DLMF 8.9.2); derivatives are
// those of each term and step. All in double, and as precise as the result's type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/elementwise.h"
#include "kernels/registry.h"

namespace tapeflow {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestA = 1e4;  // beyond it the terms are too many
constexpr double kHalfLog2Pi = 0.91893853320467274178;

double log_gamma(double x) {
  int sign;  // std::lgamma would write it to a global, from many threads
  return ::lgamma_r(x, &sign);
}

// log gamma(1 + x) for 0 <= x, with its relative precision for small x (DLMF 5.7.3).
double log_gamma_of_one_plus(double x) {
  if (x >= 0.5) return log_gamma(1 + x);
  constexpr double kAtTwo[] = {
      0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
      0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357936,
      9.945751278180853e-05, -4.492623673813314e-05, 2.0507212775670694e-05, -9.439488275268395e-06,
      4.374866789907487e-06, -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
      2.1207184805554667e-07, -1.00432248239681e-07, 4.769810169363981e-08, -2.2711094608943164e-08,
      1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09};
  double total = 0;
  for (int k = static_cast<int>(std::size(kAtTwo)) - 1; k >= 0; --k) total = (total + kAtTwo[k]) * x;
  return total - std::log1p(x);
}

// log gamma(x) less (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1).
double stirling(double x) {
  const double z = 1 / (x * x);
  const double series = 1.0 / 12 + z * (-1.0 / 360 + z * (1.0 / 1260 + z * (-1.0 / 1680 + z * (1.0 / 1188 +
                        z * (-691.0 / 360360 + z * (1.0 / 156 - z * 3617.0 / 122400))))));
  return series / x;
}

// The recurrence up to 10, then DLMF 5.11.2; for x > 0.
double digamma(double x) {
  double y = 0;
  for (; x < 10; ++x) y -= 1 / x;
  const double z = 1 / (x * x);
  const double series = z * (1.0 / 12 + z * (-1.0 / 120 + z * (1.0 / 252 + z * (-1.0 / 240 + z * (1.0 / 132 +
                        z * (-691.0 / 32760 + z / 12))))));
  return y + std::log(x) - 0.5 / x - series;
}

// log(1 + x) - x, without cancellation for small x: 2 artanh(r) - x with r = x / (2 + x).
double log1p_minus(double x) {
  if (std::abs(x) >= 0.3) return std::log1p(x) - x;
  const double r = x / (2 + x), square = r * r;
  double series = 0;
  for (int k = 11; k >= 0; --k) series = series * square + 2.0 / (2 * k + 3);
  return r * (square * series - x);
}

// x^a exp(-x) / gamma(a).
double density_times_x(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - log_gamma(a));
  const double shift = (x - a) / a;
  const double exponent = shift > -0.5 ? log1p_minus(shift) : std::log(x / a) - shift;
  return std::sqrt(a) * std::exp(a * exponent - stirling(a) - kHalfLog2Pi);
}

// A number and, if it is wanted, its derivative by a.
struct Value {
  double value, slope;
};

// P(a, x).
template <bool derived> Value lower_series(double a, double x, double eps) {
  double term = 1, sum = 1, term_slope = 0, sum_slope = 0;
  for (double n = a + 1;; ++n) {
    const double ratio = x / n;
    if constexpr (derived) {
      term_slope = (term_slope - term / n) * ratio;
      sum_slope += term_slope;
    }
    term *= ratio;
    sum += term;
    if (term <= eps * sum && (!derived || std::abs(term_slope) <= eps * std::abs(sum_slope))) break;
  }
  const double scale = density_times_x(a, x) / a;
  if constexpr (!derived) return {scale * sum, 0};
  return {scale * sum, scale * (sum * (std::log(x) - digamma(a + 1)) + sum_slope)};
}

// Q(a, x) for x > max(a, 1), by Lentz's method.
template <bool derived> Value upper_fraction(double a, double x, double eps) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
  double c_slope = 0, d_slope = d * d, slope = d_slope;  // b falls as a grows
  for (double n = 1; n < 100'000; ++n) {
    const double factor = n * (a - n);
    b += 2;
    const double next_d = 1 / (factor * d + b), next_c = b + factor / c, step = next_c * next_d;
    if constexpr (derived) {
      d_slope = -next_d * next_d * (n * d + factor * d_slope - 1);
      c_slope = -1 + n / c - factor / c * (c_slope / c);
      const double step_slope = c_slope * next_d + next_c * d_slope;
      slope = slope * step + value * step_slope;
      if (std::abs(step - 1) <= eps && std::abs(value * step_slope) <= eps * std::abs(slope)) n = 100'000;
    } else if (std::abs(step - 1) <= eps) {
      n = 100'000;
    }
    value *= step;
    c = next_c;
    d = next_d;
  }
  const double scale = density_times_x(a, x);
  if constexpr (!derived) return {scale * value, 0};
  // digamma(a) is digamma(a + 1) - 1 / a, which may overflow where the scale is as small as a.
  return {scale * value, scale * (value * (std::log(x) - digamma(a + 1)) + slope) + scale / a * value};
}

// Q(a, x) for small x: 1 - x^a / gamma(a + 1) - ..., without the cancellation of 1 and a power that is almost 1.
double upper_near_zero(double a, double x, double eps) {
  double term = 1, total = 0;
  for (int n = 1; n < 40 && std::abs(term) > eps * std::abs(total); ++n) {
    term *= -x / n;
    total += term / (a + n);
  }
  const double logarithm = a * std::log(x) - log_gamma_of_one_plus(a);
  return -std::expm1(logarithm) - a * std::exp(logarithm) * total;
}

enum class Which { kLower, kUpper };

template <Which which> double incomplete(double a, double x, double eps) {
  constexpr bool lower = which == Which::kLower;
  const double none = lower ? 0 : 1;
  if (!(a > 0 && x > 0 && std::isfinite(a) && std::isfinite(x))) {
    if (x == 0 && (a > 0 || lower)) return none;
    if (std::isinf(x) && x > 0 && a > 0) return 1 - none;
    return std::isinf(a) && a > 0 && std::isfinite(x) && x >= 0 ? none : kNaN;
  }
  const double mostly_lower = x <= 0.5 ? -0.4 / std::log(x) : x / 1.1;  // up to this a, P is not small
  if (x <= 1.1 && a <= mostly_lower) {
    const double q = upper_near_zero(a, x, eps);
    return std::clamp(lower ? 1 - q : q, 0.0, 1.0);
  }
  if (x < a + 1 || x <= 1.1) {
    const double p = lower_series<false>(a, x, eps).value;
    return std::clamp(lower ? p : 1 - p, 0.0, 1.0);
  }
  const double q = upper_fraction<false>(a, x, eps).value;
  return std::clamp(lower ? 1 - q : q, 0.0, 1.0);
}

double slope_by_a(double a, double x, double eps) {
  if (!(a > 0 && x > 0 && std::isfinite(a) && std::isfinite(x))) {
    const bool edge = x == 0 || (x > 0 && ((std::isinf(a) && a > 0) || (a > 0 && std::isinf(x))));
    return edge && !std::isnan(a) ? 0 : kNaN;
  }
  return x > a + 1 ? -upper_fraction<true>(a, x, eps).slope : lower_series<true>(a, x, eps).slope;
}

// The derivative by alpha of a number drawn from the gamma distribution.
double sample_slope(double alpha, double sample, double eps) {
  const double slope = slope_by_a(alpha, sample, eps);
  if (slope == 0) return 0;
  return -slope * std::exp(log_gamma(alpha) + sample - (alpha - 1) * std::log(sample));
}

using Function = double (*)(double, double, double);

template <Function f, typename T, int step_a, int step_x> void row(const void* const* in, void* out, int64_t n, const Attr*) {
  const auto *a = static_cast<const T*>(in[0]), *x = static_cast<const T*>(in[1]);
  constexpr double eps = std::numeric_limits<T>::epsilon() / (sizeof(T) == 4 ? 64 : 1);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(out)[i] = static_cast<T>(f(static_cast<double>(a[i * step_a]), static_cast<double>(x[i * step_x]), eps));
  }
}

template <Function f, typename T> bool incomplete_gamma(KernelCall& c) {
  const Tensor* a = c.in[0];
  if (c.in[1]->dtype != a->dtype) return false;
  for (int64_t i = 0; i < a->size(); ++i) {
    if (std::isfinite(a->as<T>()[i]) && static_cast<double>(a->as<T>()[i]) > kLargestA) return false;
  }
  return map_binary(c, a->dtype, 150, {row<f, T, 1, 1>, row<f, T, 1, 0>, row<f, T, 0, 1>, nullptr});
}

template <Function f> void register_function(const char* op) {
  register_kernel(op, {DType::kFloat32}, incomplete_gamma<f, float>);
  register_kernel(op, {DType::kFloat64}, incomplete_gamma<f, double>);
}

}  // namespace

void register_incomplete_gamma() {
  register_function<incomplete<Which::kLower>>("Igamma");
  register_function<incomplete<Which::kUpper>>("Igammac");
  register_function<slope_by_a>("IgammaGradA");
  register_function<sample_slope>("RandomGammaGrad");
}

}  // namespace tapeflow
