// Kernels that sample by rejection: gamma and Poisson. Each output has a stretch of 256 blocks of the stream to itself,
// so that what one takes does not move the others.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/half.h"
#include "kernels/indexing.h"
#include "kernels/random.h"
#include "threads.h"

namespace tapeflow {
namespace {

constexpr uint64_t kStretch = 256;

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
double gamma_sample(double alpha, PhiloxDoubles& random) {
  if (alpha == 1) return -std::log1p(-random.uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = random.normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = random.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      const double sample = d * v;
      return small ? sample * std::pow(random.uniform(), 1 / alpha) : sample;
    }
  }
}

// Knuth's method for small rates; Hörmann, "The transformed rejection method for generating Poisson random variables"
// (1993), for others.
double poisson_sample(double rate, double largest, PhiloxDoubles& random) {
  if (!std::isfinite(rate) || rate < 0) return std::numeric_limits<double>::quiet_NaN();
  if (rate < 10) {
    const double stop = std::exp(-rate);
    double product = 1, x = 0;
    for (;;) {
      product *= random.uniform();
      if (product <= stop && x <= largest) return x;
      x += 1;
    }
  }
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    const double u = random.uniform() - 0.5, v = random.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (k > largest) continue;
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

template <typename T> double widened(T x) {
  if constexpr (sizeof(T) == 2) return to_float(x);
  else return static_cast<double>(x);
}

template <typename T> T narrowed(double x) {
  if constexpr (std::is_same_v<T, Half>) return to_half(static_cast<float>(x));
  else return static_cast<T>(x);
}

// The largest number that a type holds.
template <typename T> double largest() {
  if constexpr (std::is_same_v<T, Half>) return 65504;
  else return static_cast<double>(std::numeric_limits<T>::max());
}

// out[s, p] = sample(parameter[p], the stretch of output p * samples + s).
template <typename T, typename P, typename F>
void fill_rejection(const Philox& start, const P* parameters, int64_t n, int64_t samples, T* out, F&& sample) {
  ReleaseGil unlock(n * samples * 60);
  parallel_for(n * samples, 60, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Philox g = start;
      g.skip(static_cast<uint64_t>(i) * kStretch);
      PhiloxDoubles random(g);
      out[i % samples * n + i / samples] = narrowed<T>(sample(widened(parameters[i / samples]), random));
    }
  });
}

// shape + parameter.shape
ShapeRef joined(const Shape* a, const Shape* b) {
  int64_t dims[2 * kMaxRank];
  std::copy(a->dims, a->dims + a->rank, dims);
  std::copy(b->dims, b->dims + b->rank, dims + a->rank);
  return ShapeRef(a->rank + b->rank, dims);
}

template <typename F>
bool with_floating(DType d, F&& f) {
  switch (d) {
    case DType::kFloat16: f(Half{}); return true;
    case DType::kFloat32: f(float{}); return true;
    case DType::kFloat64: f(double{}); return true;
    default: return false;
  }
}

bool floating(DType d) { return with_floating(d, [](auto) {}); }

bool random_gamma(KernelCall& c, const SeedAttrs& attrs) {
  const Tensor* alpha = c.in[1];
  const DType type = alpha->dtype;
  if (!floating(type)) return false;
  ShapeRef prefix = random_shape(c.in[0]);
  ShapeRef shape = joined(prefix.get(), alpha->shape);
  Tensor* out = c.out[0] = new_tensor(type, shape.get());
  if (shape->size == 0) return true;
  const Philox g = reserve_stream("RandomGamma", type, c.in[0]->dtype, attrs.seed.i, attrs.seed2.i,
                                  static_cast<uint64_t>(shape->size) * kStretch);
  return with_floating(type, [&](auto t) {
    using T = decltype(t);
    fill_rejection(g, alpha->as<T>(), alpha->size(), prefix->size, out->as<T>(), gamma_sample);
  });
}

// Inputs shape (of the result), seed, alpha. The result's trailing axes are alpha's.
TAPEFLOW_INPUTS(StatelessGammaInputs, shape, seed, alpha);

bool stateless_gamma(KernelCall& c, const StatelessGammaInputs& in) {
  const Tensor* alpha = in.alpha;
  const DType type = alpha->dtype;
  if (!floating(type)) return false;
  const Philox g = stateless_generator(in.seed);
  ShapeRef shape = random_shape(in.shape);
  const int extra = shape->rank - alpha->rank();
  for (int i = 0; i < alpha->rank(); ++i) {
    if (extra < 0 || alpha->dim(i) != shape->dims[extra + i]) return false;
  }
  Tensor* out = c.out[0] = new_tensor(type, shape.get());
  if (shape->size == 0) return true;
  return with_floating(type, [&](auto t) {
    using T = decltype(t);
    fill_rejection(g, alpha->as<T>(), alpha->size(), shape->size / alpha->size(), out->as<T>(), gamma_sample);
  });
}

template <typename F>
bool with_real(DType d, F&& f) {
  if (with_floating(d, f)) return true;
  switch (d) {
    case DType::kInt32: f(int32_t{}); return true;
    case DType::kInt64: f(int64_t{}); return true;
    default: return false;
  }
}

bool fill_poisson(const Philox& g, const Tensor* rate, int64_t samples, Tensor* out) {
  bool done = false;
  with_real(rate->dtype, [&](auto r) {
    done = with_real(out->dtype, [&](auto t) {
      using T = decltype(t);
      fill_rejection(g, rate->as<decltype(r)>(), rate->size(), samples, out->as<T>(),
                     [](double lambda, PhiloxDoubles& random) {
        const double x = poisson_sample(lambda, largest<T>(), random);
        return std::numeric_limits<T>::is_integer && std::isnan(x) ? 0.0 : x;
      });
    });
  });
  return done;
}

bool real(DType d) { return with_real(d, [](auto) {}); }

bool random_poisson(KernelCall& c, const SeededAttrs& attrs) {
  const Tensor* rate = c.in[1];
  const DType type = attrs.dtype.type();
  if (!real(type) || !real(rate->dtype)) return false;
  ShapeRef prefix = random_shape(c.in[0]);
  ShapeRef shape = joined(prefix.get(), rate->shape);
  c.out[0] = new_tensor(type, shape.get());
  if (shape->size == 0) return true;
  const Philox g = reserve_stream("RandomPoissonV2", type, rate->dtype, attrs.seed.i, attrs.seed2.i,
                                  static_cast<uint64_t>(shape->size) * kStretch);
  return fill_poisson(g, rate, prefix->size, c.out[0]);
}

}  // namespace

void register_random_rejection() {
  register_kernel("RandomGamma", {DType::kInt32, DType::kInt64}, named<random_gamma>);
  register_kernel("StatelessRandomGammaV2", {DType::kInt32, DType::kInt64}, named<stateless_gamma>);
  register_kernel("RandomPoissonV2", {DType::kInt32, DType::kInt64}, named<random_poisson>);
}

}  // namespace tapeflow
