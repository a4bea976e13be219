// Activations of neural networks, and the gradients that TensorFlow has as ops of their own.
#include "elementwise_rows.h"
#include "vector_math.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Klambauer et al., "Self-Normalizing Neural Networks" (2017).
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

TAPEFLOW_ATTRS(LeakyReluAttrs, alpha);

template <typename T>
void leaky_relu_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  const T* __restrict x = static_cast<const T*>(in[0]);
  T* __restrict y = static_cast<T*>(out);
  const T alpha = static_cast<T>(LeakyReluAttrs::of(attrs).alpha.f);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : x[i] * alpha;
}

template <typename T>
void leaky_relu_grad_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  const T* __restrict g = static_cast<const T*>(in[0]);
  const T* __restrict x = static_cast<const T*>(in[1]);
  T* __restrict y = static_cast<T*>(out);
  const T alpha = static_cast<T>(LeakyReluAttrs::of(attrs).alpha.f);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? g[i] : g[i] * alpha;
}

template <typename T> bool leaky_relu(KernelCall& c, const LeakyReluAttrs&) {
  return map_unary(c, DTypeOf<T>::value, cost<T>(kCheap), leaky_relu_row<T>);
}
template <typename T> bool leaky_relu_grad(KernelCall& c, const LeakyReluAttrs&) {
  return map_pair(c, cost<T>(kCheap), leaky_relu_grad_row<T>, Match::kShape);
}

template <typename T> void add_leaky_relu() {
  constexpr DType d = DTypeOf<T>::value;
  register_kernel("LeakyRelu", {d}, named<leaky_relu<T>>);
  register_loops("LeakyRelu", d, {1, {d}, d, {leaky_relu_row<T>}, cost<T>(kCheap)});
  register_kernel("LeakyReluGrad", {d}, named<leaky_relu_grad<T>>);
  add_pair_loops<T>("LeakyReluGrad", kCheap, leaky_relu_grad_row<T>);
}

// x times the probability that a normally distributed number is below it; `approximate`: by a tanh.
TAPEFLOW_ATTRS(GeluAttrs, approximate);

constexpr double kGeluSlope = 0.79788456080286535587989211986876;  // sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;
constexpr double kRootHalf = 0.70710678118654752440084436210485;
constexpr double kDensityPeak = 0.39894228040143267793994605993438;  // 1 / sqrt(2 pi)

// The probability that a normally distributed number is below x, and e^(-x^2 / 2). In single precision the smaller side
// is e^(-x^2 / 2) times a quotient of polynomials (a minimax fit on [0, 13.3]), so that none of its digits cancel.
template <typename T> struct Normal {
  T below, bell;
};
TAPEFLOW_INLINE Normal<float> normal(float x) {
  const float a = at_most(magnitude(x), 14.0f), bell = exp_of_negative(-0.5f * x * x);
  const float tail =
      bell * (polynomial(a, 0.49999994f, 0.339979887f, 0.107668169f, 0.014376428f, 2.36975623e-07f) /
              polynomial(a, 1.0f, 1.47783732f, 0.894540608f, 0.269326746f, 0.0360643156f));
  return {x < 0 ? tail : 1 - tail, bell};
}
TAPEFLOW_INLINE Normal<double> normal(double x) {
  return {0.5 * (1 + std::erf(x * kRootHalf)), exp(-0.5 * x * x)};
}

template <typename T> TAPEFLOW_INLINE T gelu_exact(T x) { return x * normal(x).below; }
template <typename T> TAPEFLOW_INLINE T gelu_tanh(T x) {
  return T(0.5) * x * (1 + tanh(T(kGeluSlope) * (x + T(kGeluCubic) * (x * x * x))));
}
template <typename T> TAPEFLOW_INLINE T gelu_exact_gradient(T g, T x) {
  const auto [below, bell] = normal(x);
  return g * (below + x * (T(kDensityPeak) * bell));
}
template <typename T> TAPEFLOW_INLINE T gelu_tanh_gradient(T g, T x) {
  const T squared = x * x;
  const T t = tanh(T(kGeluSlope) * (x + T(kGeluCubic) * (squared * x)));
  const T slope = T(kGeluSlope) * (1 + T(3 * kGeluCubic) * squared);
  return g * (T(0.5) * (1 + t) + T(0.5) * x * ((1 - t * t) * slope));
}

template <typename T> void gelu_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  constexpr auto by_tanh = [](T x) { return gelu_tanh(x); };
  constexpr auto exact = [](T x) { return gelu_exact(x); };
  if (GeluAttrs::of(attrs).approximate.b()) padded_unary_row<by_tanh, T>(in, out, n, attrs);
  else padded_unary_row<exact, T>(in, out, n, attrs);
}
template <typename T> void gelu_grad_row(const void* const* in, void* out, int64_t n, const Attr* attrs) {
  constexpr auto by_tanh = [](T g, T x) { return gelu_tanh_gradient(g, x); };
  constexpr auto exact = [](T g, T x) { return gelu_exact_gradient(g, x); };
  if (GeluAttrs::of(attrs).approximate.b()) pair_row<by_tanh, T>(in, out, n, attrs);
  else pair_row<exact, T>(in, out, n, attrs);
}

template <typename T> constexpr int kGeluCost = std::is_same_v<T, float> ? kCostly : kLibrary;

template <typename T> bool gelu(KernelCall& c, const GeluAttrs&) {
  return map_unary(c, DTypeOf<T>::value, cost<T>(kGeluCost<T>), gelu_row<T>);
}
template <typename T> bool gelu_grad(KernelCall& c, const GeluAttrs&) {
  return map_pair(c, cost<T>(kGeluCost<T>), gelu_grad_row<T>, Match::kShape);
}

template <typename T> void add_gelu() {
  constexpr DType d = DTypeOf<T>::value;
  register_kernel("Gelu", {d}, named<gelu<T>>);
  register_loops("Gelu", d, {1, {d}, d, {gelu_row<T>}, cost<T>(kGeluCost<T>)});
  register_kernel("GeluGrad", {d}, named<gelu_grad<T>>);
  add_pair_loops<T>("GeluGrad", kGeluCost<T>, gelu_grad_row<T>);
}

void register_activations() {
  add_unary<[]<typename T>(T x) { return at_least(x, T(0)); }, kCheap, float, double, int32_t,
            int64_t>("Relu");
  add_unary<[]<typename T>(T x) { return at_most(at_least(x, T(0)), T(6)); }, kCheap,
            float, double, int32_t, int64_t>("Relu6");
  add_unary<[](auto x) { return x < 0 ? expm1(x) : x; }, kModerate, float, double>("Elu");
  add_unary<[]<typename T>(T x) {
    return x < 0 ? T(kSeluScaleAlpha) * expm1(x) : T(kSeluScale) * x;
  },
            kModerate, float, double>("Selu");
  add_unary<[](auto x) { return x / (1 + magnitude(x)); }, kCheap, float, double>("Softsign");
  add_leaky_relu<float>();
  add_leaky_relu<double>();
  add_gelu<float>();
  add_gelu<double>();
}

// (gradient, features or outputs)
void register_activation_gradients() {
  constexpr Match shape = Match::kShape;
  // A product, not a choice: as in TensorFlow, a NaN gradient shows even where the unit is off.
  add_pair<[]<typename T>(T g, T x) { return static_cast<T>(g * (x > 0 ? T(1) : T(0))); }, kCheap,
           shape, float, double, int32_t, int64_t>("ReluGrad");
  add_pair<[]<typename T>(T g, T x) { return static_cast<T>(g * (x > 0 && x < 6 ? T(1) : T(0))); },
           kCheap, shape, float, double, int32_t, int64_t>("Relu6Grad");
  add_pair<[](auto g, auto y) { return y < 0 ? g * (y + 1) : g; }, kCheap, shape, float, double>(
      "EluGrad");
  add_pair<[]<typename T>(T g, T y) {
    return g * (y < 0 ? y + T(kSeluScaleAlpha) : T(kSeluScale));
  },
           kCheap, shape, float, double>("SeluGrad");
  add_pair<[](auto g, auto x) { return g / (exp(-x) + 1); }, kModerate, shape, float, double>(
      "SoftplusGrad");
  add_pair<[]<typename T>(T g, T x) {
    const T d = 1 + magnitude(x);
    return g / (d * d);
  },
           kCheap, shape, float, double>("SoftsignGrad");
}

// (output, gradient)
void register_cwise_gradients() {
  constexpr Match size = Match::kSize;
  add_pair<[](auto y, auto g) { return g * (1 - y * y); }, kCheap, size, float, double>("TanhGrad");
  add_pair<[](auto y, auto g) { return g * y * (1 - y); }, kCheap, size, float, double>(
      "SigmoidGrad");
  // No gradient stays none, also at the root of zero, where the slope is infinite.
  add_pair<[]<typename T>(T y, T g) { return g == 0 ? T(0) : T(0.5) * g / y; }, kCheap, size,
           float, double>("SqrtGrad");
  add_pair<[]<typename T>(T y, T g) { return T(-0.5) * g * y * (y * y); }, kCheap, size,
           float, double>("RsqrtGrad");
  for (const char* op : {"ReciprocalGrad", "InvGrad"}) {
    add_pair<[](auto y, auto g) { return -g * (y * y); }, kCheap, size, float, double>(op);
  }
}

}  // namespace

void register_activation() {
  register_activations();
  register_activation_gradients();
  register_cwise_gradients();
}

}  // namespace tapeflow::TAPEFLOW_ISA
