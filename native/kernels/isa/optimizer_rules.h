// The update rules of the optimizers: what one element of the variable, its slots and the gradient become.
// Compiled once per instruction set, by isa/optimizer.cc only.
#pragma once
#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// The inputs of a rule's dense op, by name: the variable, its slots, scalars and the gradient, in the schema's order.
#define TAPEFLOW_DENSE_INPUTS(...)                          \
  struct In {                                              \
    enum : int { __VA_ARGS__ };                            \
    static constexpr std::string_view names = #__VA_ARGS__; \
  }

// The i-th name of a list "a, b, c".
constexpr std::string_view nth(std::string_view names, int i) {
  for (; i > 0; --i) names.remove_prefix(names.find(' ') + 1);
  return names.substr(0, names.find(','));
}

TAPEFLOW_ATTRS(LockingAttrs, use_locking);
TAPEFLOW_ATTRS(NesterovAttrs, use_locking, use_nesterov);
TAPEFLOW_ATTRS(AdagradAttrs, use_locking, update_slots);
TAPEFLOW_ATTRS(RootAttrs, use_locking, epsilon_in_root);
TAPEFLOW_ATTRS(FtrlAttrs, use_locking, multiply_linear_by_lr);

// Reads scalar inputs, by their names in the dense op. Elsewhere they are shifted: by the indices that follow the
// gradient, or by the lists that stand for the variables and the gradient.
template <typename T, typename Attrs>
struct Scalars {
  const KernelCall& c;
  const Attrs& attrs;
  std::string_view names;
  int grad, before, after;  // position of the gradient; the shifts before and after it
  T operator()(int i) const {
    const Tensor* t = c.in[i + (i < grad ? before : after)];
    if (t->rank() != 0) throw invalid(nth(names, i), " is not a scalar: ", t->shape->str());
    return *t->as<T>();
  }
};

template <typename T> T sign(T x) { return static_cast<T>((x > 0) - (x < 0)); }

// In each rule: the inputs after the variable are its kSlots slots; kGrad is the gradient's position; kNs the rough time
// for one float. Where there is idle(), it says whether an element stays as it is that has zeros in its slots and no
// gradient.

template <typename T>
struct GradientDescent {
  TAPEFLOW_DENSE_INPUTS(var, alpha, delta);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 0, kGrad = In::delta;
  static constexpr double kNs = 0.2;
  T alpha;
  static GradientDescent read(const Scalars<T, Attrs>& s) { return {s(In::alpha)}; }
  void operator()(T& v, T g) const { v -= alpha * g; }
};

template <typename T>
struct Momentum {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, grad, momentum);
  using Attrs = NesterovAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.3;
  T lr, momentum;
  bool nesterov;
  static Momentum read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::momentum), s.attrs.use_nesterov.b()}; }
  void operator()(T& v, T& a, T g) const {
    a = a * momentum + g;
    v -= nesterov ? g * lr + a * momentum * lr : a * lr;
  }
};

template <typename T>
struct KerasMomentum {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, grad, momentum);
  using Attrs = NesterovAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.3;
  T lr, momentum;
  bool nesterov;
  static KerasMomentum read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::momentum), s.attrs.use_nesterov.b()};
  }
  void operator()(T& v, T& a, T g) const {
    a = a * momentum - g * lr;
    v += nesterov ? a * momentum - g * lr : a;
  }
};

template <typename T>
struct Adam {
  TAPEFLOW_DENSE_INPUTS(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad);
  using Attrs = NesterovAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.6;
  T alpha, beta1, beta2, epsilon;
  bool nesterov;
  static Adam read(const Scalars<T, Attrs>& s) {
    const T beta1_power = s(In::beta1_power), beta2_power = s(In::beta2_power), lr = s(In::lr);
    return {lr * std::sqrt(1 - beta2_power) / (1 - beta1_power), s(In::beta1), s(In::beta2), s(In::epsilon),
            s.attrs.use_nesterov.b()};
  }
  bool idle() const { return std::isfinite(alpha) && epsilon > 0; }
  void operator()(T& x, T& m, T& v, T g) const {
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    const T step = nesterov ? g * (1 - beta1) + beta1 * m : m;
    x -= step * alpha / (std::sqrt(v) + epsilon);
  }
};

template <typename T>
struct AdamWithAmsgrad {
  TAPEFLOW_DENSE_INPUTS(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 3, kGrad = In::grad;
  static constexpr double kNs = 0.7;
  T alpha, beta1, beta2, epsilon;
  static AdamWithAmsgrad read(const Scalars<T, Attrs>& s) {
    const T beta1_power = s(In::beta1_power), beta2_power = s(In::beta2_power), lr = s(In::lr);
    return {lr * std::sqrt(1 - beta2_power) / (1 - beta1_power), s(In::beta1), s(In::beta2), s(In::epsilon)};
  }
  bool idle() const { return std::isfinite(alpha) && epsilon > 0; }
  void operator()(T& x, T& m, T& v, T& vhat, T g) const {
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    vhat = vhat < v ? v : vhat;
    x -= m * alpha / (std::sqrt(vhat) + epsilon);
  }
};

template <typename T>
struct AdaMax {
  TAPEFLOW_DENSE_INPUTS(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T rate, beta1, beta2, epsilon;
  static AdaMax read(const Scalars<T, Attrs>& s) {
    const T beta1_power = s(In::beta1_power), lr = s(In::lr);
    return {lr / (1 - beta1_power), s(In::beta1), s(In::beta2), s(In::epsilon)};
  }
  bool idle() const { return std::isfinite(rate) && epsilon > 0; }
  void operator()(T& x, T& m, T& v, T g) const {
    m += (g - m) * (1 - beta1);
    const T decayed = beta2 * v, size = std::abs(g);
    v = decayed < size ? size : decayed;
    x -= rate * (m / (v + epsilon));
  }
};

template <typename T>
struct Adagrad {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, grad);
  using Attrs = AdagradAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T lr;
  bool update_slots;
  static Adagrad read(const Scalars<T, Attrs>& s) { return {s(In::lr), s.attrs.update_slots.b()}; }
  void operator()(T& v, T& a, T g) const {
    a = update_slots ? a + g * g : a;
    v -= g * lr / std::sqrt(a);
  }
};

template <typename T>
struct AdagradV2 {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, epsilon, grad);
  using Attrs = AdagradAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T lr, epsilon;
  bool update_slots;
  static AdagradV2 read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::epsilon), s.attrs.update_slots.b()}; }
  void operator()(T& v, T& a, T g) const {
    a = update_slots ? a + g * g : a;
    v -= g * lr / (std::sqrt(a) + epsilon);
  }
};

// As Keras 3 has it: epsilon under the root.
template <typename T>
struct KerasAdagrad {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T lr, epsilon;
  static KerasAdagrad read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::epsilon)}; }
  void operator()(T& v, T& a, T g) const {
    a += g * g;
    v -= g * lr / std::sqrt(a + epsilon);
  }
};

template <typename T>
struct Adadelta {
  TAPEFLOW_DENSE_INPUTS(var, accum, accum_update, lr, rho, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.8;
  T lr, rho, epsilon;
  static Adadelta read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::rho), s(In::epsilon)}; }
  void operator()(T& v, T& a, T& u, T g) const {
    a = a * rho + g * g * (1 - rho);
    const T step = std::sqrt(u + epsilon) / std::sqrt(a + epsilon) * g;
    v -= step * lr;
    u = u * rho + step * step * (1 - rho);
  }
};

template <typename T>
struct RMSProp {
  TAPEFLOW_DENSE_INPUTS(var, ms, mom, lr, rho, momentum, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.7;
  T lr, rho, momentum, epsilon;
  static RMSProp read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::rho), s(In::momentum), s(In::epsilon)}; }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * (1 - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms + epsilon);
    v -= mom;
  }
};

template <typename T>
struct CenteredRMSProp {
  TAPEFLOW_DENSE_INPUTS(var, mg, ms, mom, lr, rho, momentum, epsilon, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 3, kGrad = In::grad;
  static constexpr double kNs = 0.8;
  T lr, rho, momentum, epsilon;
  static CenteredRMSProp read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::rho), s(In::momentum), s(In::epsilon)};
  }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& mg, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * (1 - rho);
    mg += (g - mg) * (1 - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms - mg * mg + epsilon);
    v -= mom;
  }
};

// The root of x with epsilon under it, as in Keras 3, or added to it, as in Keras 2.
template <typename T>
inline T root_of(T x, T epsilon, bool epsilon_in_root) {
  return epsilon_in_root ? std::sqrt(x + epsilon) : std::sqrt(x) + epsilon;
}

template <typename T>
struct KerasRMSProp {
  TAPEFLOW_DENSE_INPUTS(var, ms, lr, rho, epsilon, grad);
  using Attrs = RootAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T lr, rho, epsilon;
  bool epsilon_in_root;
  static KerasRMSProp read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::rho), s(In::epsilon), s.attrs.epsilon_in_root.b()};
  }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& ms, T g) const {
    ms = ms * rho + (1 - rho) * (g * g);
    v -= lr * g / root_of(ms, epsilon, epsilon_in_root);
  }
};

template <typename T>
struct KerasCenteredRMSProp {
  TAPEFLOW_DENSE_INPUTS(var, mg, ms, lr, rho, epsilon, grad);
  using Attrs = RootAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.6;
  T lr, rho, epsilon;
  bool epsilon_in_root;
  static KerasCenteredRMSProp read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::rho), s(In::epsilon), s.attrs.epsilon_in_root.b()};
  }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& mg, T& ms, T g) const {
    ms = ms * rho + (1 - rho) * (g * g);
    mg = mg * rho + (1 - rho) * g;
    v -= lr * g / root_of(ms - mg * mg, epsilon, epsilon_in_root);
  }
};

// Dozat, "Incorporating Nesterov momentum into Adam" (2016); the two weights are those of the step's momentum schedule.
template <typename T>
struct Nadam {
  TAPEFLOW_DENSE_INPUTS(var, m, v, beta2_power, lr, beta1, beta2, epsilon, grad_weight, m_weight, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 0.7;
  T lr, beta1, beta2, epsilon, grad_weight, m_weight, unbias;
  static Nadam read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::beta1), s(In::beta2), s(In::epsilon), s(In::grad_weight), s(In::m_weight),
            1 - s(In::beta2_power)};
  }
  bool idle() const { return std::isfinite(lr * m_weight / unbias) && epsilon > 0; }
  void operator()(T& x, T& m, T& v, T g) const {
    m = m * beta1 + (1 - beta1) * g;
    v = v * beta2 + (1 - beta2) * (g * g);
    x -= lr * (grad_weight * g + m_weight * m) / (std::sqrt(v / unbias) + epsilon);
  }
};

// Chen et al., "Symbolic discovery of optimization algorithms" (2023).
template <typename T>
struct Lion {
  TAPEFLOW_DENSE_INPUTS(var, m, lr, beta1, beta2, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.4;
  T lr, beta1, beta2;
  static Lion read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::beta1), s(In::beta2)}; }
  bool idle() const { return std::isfinite(lr); }
  void operator()(T& v, T& m, T g) const {
    v -= lr * sign(m * beta1 + g * (1 - beta1));
    m = m * beta2 + g * (1 - beta2);
  }
};

// McMahan et al., "Ad click prediction: a view from the trenches" (2013).
template <typename T>
struct FtrlCore {
  T lr, l1, l2, shrinkage, power;
  bool linear_by_lr;
  T root(T accum) const { return power == T(-0.5) ? std::sqrt(accum) : std::pow(accum, -power); }
  void update(T& v, T& accum, T& linear, T g) const {
    const T shrunk = g + 2 * shrinkage * v, sum = accum + g * g;
    const T before = root(accum), after = root(sum);
    const T scale = linear_by_lr ? lr : T(1), over = linear_by_lr ? T(1) : lr;
    linear += shrunk * scale - (after - before) / over * v;
    const T threshold = l1 * scale;
    // Not a number stays one.
    v = std::abs(linear) <= threshold ? T(0) : (threshold * sign(linear) - linear) / (after / over + 2 * l2 * scale);
    accum = sum;
  }
};

template <typename T>
struct Ftrl : FtrlCore<T> {
  TAPEFLOW_DENSE_INPUTS(var, accum, linear, grad, lr, l1, l2, lr_power);
  using Attrs = FtrlAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 1.5;
  static Ftrl read(const Scalars<T, Attrs>& s) {
    return {{s(In::lr), s(In::l1), s(In::l2), 0, s(In::lr_power), s.attrs.multiply_linear_by_lr.b()}};
  }
  void operator()(T& v, T& a, T& l, T g) const { this->update(v, a, l, g); }
};

template <typename T>
struct FtrlV2 : FtrlCore<T> {
  TAPEFLOW_DENSE_INPUTS(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power);
  using Attrs = FtrlAttrs;
  static constexpr int kSlots = 2, kGrad = In::grad;
  static constexpr double kNs = 1.5;
  static FtrlV2 read(const Scalars<T, Attrs>& s) {
    return {{s(In::lr), s(In::l1), s(In::l2), s(In::l2_shrinkage), s(In::lr_power), s.attrs.multiply_linear_by_lr.b()}};
  }
  void operator()(T& v, T& a, T& l, T g) const { this->update(v, a, l, g); }
};

// The step of size lr to x, then towards 0 by the regularisation.
template <typename T>
T proximal(T x, T lr, T l1, T l2) {
  const T size = std::abs(x) - lr * l1;
  return (l1 > 0 ? (size > 0 ? sign(x) * size : T(0)) : x) / (1 + l2 * lr);
}

template <typename T>
T check_strength(T value, const char* name) {
  if (!(value >= 0)) throw invalid(name, " regularization strength is not a non-negative scalar: ", value);
  return value;
}

template <typename T>
struct ProximalGradientDescent {
  TAPEFLOW_DENSE_INPUTS(var, alpha, l1, l2, delta);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 0, kGrad = In::delta;
  static constexpr double kNs = 0.4;
  T alpha, l1, l2;
  static ProximalGradientDescent read(const Scalars<T, Attrs>& s) {
    return {s(In::alpha), check_strength(s(In::l1), "l1"), check_strength(s(In::l2), "l2")};
  }
  void operator()(T& v, T g) const { v = proximal(v - g * alpha, alpha, l1, l2); }
};

template <typename T>
struct ProximalAdagrad {
  TAPEFLOW_DENSE_INPUTS(var, accum, lr, l1, l2, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.7;
  T lr, l1, l2;
  static ProximalAdagrad read(const Scalars<T, Attrs>& s) {
    const T lr = s(In::lr);
    if (!(lr > 0)) throw invalid("lr is not a positive scalar: ", lr);
    return {lr, check_strength(s(In::l1), "l1"), check_strength(s(In::l2), "l2")};
  }
  void operator()(T& v, T& a, T g) const {
    a += g * g;
    const T rate = lr / std::sqrt(a);
    v = proximal(v - g * rate, rate, l1, l2);
  }
};

// Bello et al., "Neural optimizer search with reinforcement learning" (2017), as PowerSign.
template <typename T>
struct AddSign {
  TAPEFLOW_DENSE_INPUTS(var, m, lr, alpha, sign_decay, beta, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 0.5;
  T lr, alpha, sign_decay, beta;
  static AddSign read(const Scalars<T, Attrs>& s) { return {s(In::lr), s(In::alpha), s(In::sign_decay), s(In::beta)}; }
  void operator()(T& v, T& m, T g) const {
    m = m * beta + g * (1 - beta);
    v -= lr * (alpha + sign_decay * sign(g) * sign(m)) * g;
  }
};

template <typename T>
struct PowerSign {
  TAPEFLOW_DENSE_INPUTS(var, m, lr, logbase, sign_decay, beta, grad);
  using Attrs = LockingAttrs;
  static constexpr int kSlots = 1, kGrad = In::grad;
  static constexpr double kNs = 3;
  T lr, logbase, sign_decay, beta;
  static PowerSign read(const Scalars<T, Attrs>& s) {
    return {s(In::lr), s(In::logbase), s(In::sign_decay), s(In::beta)};
  }
  void operator()(T& v, T& m, T g) const {
    m = m * beta + g * (1 - beta);
    v -= lr * std::exp(logbase * sign_decay * sign(g) * sign(m)) * g;
  }
};

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
