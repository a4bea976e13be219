// The update rules of the optimizers: what one element of the variable, its slots and the gradient become.
// Compiled once per instruction set, by isa/optimizer.cc only.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernel.h"

namespace tapeflow::TAPEFLOW_ISA {
namespace {

// Reads scalar inputs, by their positions in the dense op. Elsewhere they are shifted: by the indices that follow the
// gradient, or by the lists that stand for the variables and the gradient.
template <typename T>
struct Scalars {
  const KernelCall& c;
  int grad, before, after;  // position of the gradient; the shifts before and after it
  T operator()(int i, const char* name) const {
    const Tensor* t = c.in[i + (i < grad ? before : after)];
    if (t->rank() != 0) throw invalid(name, " is not a scalar: ", t->shape->str());
    return *t->as<T>();
  }
  bool flag(int i) const { return c.attrs[i].b(); }
};

template <typename T> T sign(T x) { return static_cast<T>((x > 0) - (x < 0)); }

// In each rule: names[0] is that of the gradient, names[i] that of slot i; kGrad the gradient's position among the
// inputs; kNs the rough time for one float. Where there is idle(), it says whether an element stays as it is that has
// zeros in its slots and no gradient.

template <typename T>
struct GradientDescent {
  static constexpr int kSlots = 0, kGrad = 2;
  static constexpr double kNs = 0.2;
  static constexpr const char* names[] = {"delta"};
  T alpha;
  static GradientDescent read(const Scalars<T>& s) { return {s(1, "alpha")}; }
  void operator()(T& v, T g) const { v -= alpha * g; }
};

template <typename T>
struct Momentum {
  static constexpr int kSlots = 1, kGrad = 3;
  static constexpr double kNs = 0.3;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr, momentum;
  bool nesterov;
  static Momentum read(const Scalars<T>& s) { return {s(2, "lr"), s(4, "momentum"), s.flag(1)}; }
  void operator()(T& v, T& a, T g) const {
    a = a * momentum + g;
    v -= nesterov ? g * lr + a * momentum * lr : a * lr;
  }
};

template <typename T>
struct KerasMomentum {
  static constexpr int kSlots = 1, kGrad = 3;
  static constexpr double kNs = 0.3;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr, momentum;
  bool nesterov;
  static KerasMomentum read(const Scalars<T>& s) { return {s(2, "lr"), s(4, "momentum"), s.flag(1)}; }
  void operator()(T& v, T& a, T g) const {
    a = a * momentum - g * lr;
    v += nesterov ? a * momentum - g * lr : a;
  }
};

template <typename T>
struct Adam {
  static constexpr int kSlots = 2, kGrad = 9;
  static constexpr double kNs = 0.6;
  static constexpr const char* names[] = {"grad", "m", "v"};
  T alpha, beta1, beta2, epsilon;
  bool nesterov;
  static Adam read(const Scalars<T>& s) {
    const T beta1_power = s(3, "beta1_power"), beta2_power = s(4, "beta2_power"), lr = s(5, "lr");
    return {lr * std::sqrt(1 - beta2_power) / (1 - beta1_power), s(6, "beta1"), s(7, "beta2"), s(8, "epsilon"),
            s.flag(1)};
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
  static constexpr int kSlots = 3, kGrad = 10;
  static constexpr double kNs = 0.7;
  static constexpr const char* names[] = {"grad", "m", "v", "vhat"};
  T alpha, beta1, beta2, epsilon;
  static AdamWithAmsgrad read(const Scalars<T>& s) {
    const T beta1_power = s(4, "beta1_power"), beta2_power = s(5, "beta2_power"), lr = s(6, "lr");
    return {lr * std::sqrt(1 - beta2_power) / (1 - beta1_power), s(7, "beta1"), s(8, "beta2"), s(9, "epsilon")};
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
  static constexpr int kSlots = 2, kGrad = 8;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "m", "v"};
  T rate, beta1, beta2, epsilon;
  static AdaMax read(const Scalars<T>& s) {
    const T beta1_power = s(3, "beta1_power"), lr = s(4, "lr");
    return {lr / (1 - beta1_power), s(5, "beta1"), s(6, "beta2"), s(7, "epsilon")};
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
  static constexpr int kSlots = 1, kGrad = 3;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr;
  bool update_slots;
  static Adagrad read(const Scalars<T>& s) { return {s(2, "lr"), s.flag(1)}; }
  void operator()(T& v, T& a, T g) const {
    a = update_slots ? a + g * g : a;
    v -= g * lr / std::sqrt(a);
  }
};

template <typename T>
struct AdagradV2 {
  static constexpr int kSlots = 1, kGrad = 4;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr, epsilon;
  bool update_slots;
  static AdagradV2 read(const Scalars<T>& s) { return {s(2, "lr"), s(3, "epsilon"), s.flag(1)}; }
  void operator()(T& v, T& a, T g) const {
    a = update_slots ? a + g * g : a;
    v -= g * lr / (std::sqrt(a) + epsilon);
  }
};

// As Keras 3 has it: epsilon under the root.
template <typename T>
struct KerasAdagrad {
  static constexpr int kSlots = 1, kGrad = 4;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr, epsilon;
  static KerasAdagrad read(const Scalars<T>& s) { return {s(2, "lr"), s(3, "epsilon")}; }
  void operator()(T& v, T& a, T g) const {
    a += g * g;
    v -= g * lr / std::sqrt(a + epsilon);
  }
};

template <typename T>
struct Adadelta {
  static constexpr int kSlots = 2, kGrad = 6;
  static constexpr double kNs = 0.8;
  static constexpr const char* names[] = {"grad", "accum", "accum_update"};
  T lr, rho, epsilon;
  static Adadelta read(const Scalars<T>& s) { return {s(3, "lr"), s(4, "rho"), s(5, "epsilon")}; }
  void operator()(T& v, T& a, T& u, T g) const {
    a = a * rho + g * g * (1 - rho);
    const T step = std::sqrt(u + epsilon) / std::sqrt(a + epsilon) * g;
    v -= step * lr;
    u = u * rho + step * step * (1 - rho);
  }
};

template <typename T>
struct RMSProp {
  static constexpr int kSlots = 2, kGrad = 7;
  static constexpr double kNs = 0.7;
  static constexpr const char* names[] = {"grad", "ms", "mom"};
  T lr, rho, momentum, epsilon;
  static RMSProp read(const Scalars<T>& s) { return {s(3, "lr"), s(4, "rho"), s(5, "momentum"), s(6, "epsilon")}; }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * (1 - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms + epsilon);
    v -= mom;
  }
};

template <typename T>
struct CenteredRMSProp {
  static constexpr int kSlots = 3, kGrad = 8;
  static constexpr double kNs = 0.8;
  static constexpr const char* names[] = {"grad", "mg", "ms", "mom"};
  T lr, rho, momentum, epsilon;
  static CenteredRMSProp read(const Scalars<T>& s) {
    return {s(4, "lr"), s(5, "rho"), s(6, "momentum"), s(7, "epsilon")};
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
  static constexpr int kSlots = 1, kGrad = 5;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "ms"};
  T lr, rho, epsilon;
  bool epsilon_in_root;
  static KerasRMSProp read(const Scalars<T>& s) { return {s(2, "lr"), s(3, "rho"), s(4, "epsilon"), s.flag(1)}; }
  bool idle() const { return std::isfinite(lr) && epsilon > 0; }
  void operator()(T& v, T& ms, T g) const {
    ms = ms * rho + (1 - rho) * (g * g);
    v -= lr * g / root_of(ms, epsilon, epsilon_in_root);
  }
};

template <typename T>
struct KerasCenteredRMSProp {
  static constexpr int kSlots = 2, kGrad = 6;
  static constexpr double kNs = 0.6;
  static constexpr const char* names[] = {"grad", "mg", "ms"};
  T lr, rho, epsilon;
  bool epsilon_in_root;
  static KerasCenteredRMSProp read(const Scalars<T>& s) {
    return {s(3, "lr"), s(4, "rho"), s(5, "epsilon"), s.flag(1)};
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
  static constexpr int kSlots = 2, kGrad = 10;
  static constexpr double kNs = 0.7;
  static constexpr const char* names[] = {"grad", "m", "v"};
  T lr, beta1, beta2, epsilon, grad_weight, m_weight, unbias;
  static Nadam read(const Scalars<T>& s) {
    return {s(4, "lr"), s(5, "beta1"), s(6, "beta2"), s(7, "epsilon"), s(8, "grad_weight"), s(9, "m_weight"),
            1 - s(3, "beta2_power")};
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
  static constexpr int kSlots = 1, kGrad = 5;
  static constexpr double kNs = 0.4;
  static constexpr const char* names[] = {"grad", "m"};
  T lr, beta1, beta2;
  static Lion read(const Scalars<T>& s) { return {s(2, "lr"), s(3, "beta1"), s(4, "beta2")}; }
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
  static constexpr int kSlots = 2, kGrad = 3;
  static constexpr double kNs = 1.5;
  static constexpr const char* names[] = {"grad", "accum", "linear"};
  static Ftrl read(const Scalars<T>& s) {
    return {{s(4, "lr"), s(5, "l1"), s(6, "l2"), 0, s(7, "lr_power"), s.flag(1)}};
  }
  void operator()(T& v, T& a, T& l, T g) const { this->update(v, a, l, g); }
};

template <typename T>
struct FtrlV2 : FtrlCore<T> {
  static constexpr int kSlots = 2, kGrad = 3;
  static constexpr double kNs = 1.5;
  static constexpr const char* names[] = {"grad", "accum", "linear"};
  static FtrlV2 read(const Scalars<T>& s) {
    return {{s(4, "lr"), s(5, "l1"), s(6, "l2"), s(7, "l2_shrinkage"), s(8, "lr_power"), s.flag(1)}};
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
  static constexpr int kSlots = 0, kGrad = 4;
  static constexpr double kNs = 0.4;
  static constexpr const char* names[] = {"delta"};
  T alpha, l1, l2;
  static ProximalGradientDescent read(const Scalars<T>& s) {
    return {s(1, "alpha"), check_strength(s(2, "l1"), "l1"), check_strength(s(3, "l2"), "l2")};
  }
  void operator()(T& v, T g) const { v = proximal(v - g * alpha, alpha, l1, l2); }
};

template <typename T>
struct ProximalAdagrad {
  static constexpr int kSlots = 1, kGrad = 5;
  static constexpr double kNs = 0.7;
  static constexpr const char* names[] = {"grad", "accum"};
  T lr, l1, l2;
  static ProximalAdagrad read(const Scalars<T>& s) {
    const T lr = s(2, "lr");
    if (!(lr > 0)) throw invalid("lr is not a positive scalar: ", lr);
    return {lr, check_strength(s(3, "l1"), "l1"), check_strength(s(4, "l2"), "l2")};
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
  static constexpr int kSlots = 1, kGrad = 6;
  static constexpr double kNs = 0.5;
  static constexpr const char* names[] = {"grad", "m"};
  T lr, alpha, sign_decay, beta;
  static AddSign read(const Scalars<T>& s) { return {s(2, "lr"), s(3, "alpha"), s(4, "sign_decay"), s(5, "beta")}; }
  void operator()(T& v, T& m, T g) const {
    m = m * beta + g * (1 - beta);
    v -= lr * (alpha + sign_decay * sign(g) * sign(m)) * g;
  }
};

template <typename T>
struct PowerSign {
  static constexpr int kSlots = 1, kGrad = 6;
  static constexpr double kNs = 3;
  static constexpr const char* names[] = {"grad", "m"};
  T lr, logbase, sign_decay, beta;
  static PowerSign read(const Scalars<T>& s) {
    return {s(2, "lr"), s(3, "logbase"), s(4, "sign_decay"), s(5, "beta")};
  }
  void operator()(T& v, T& m, T g) const {
    m = m * beta + g * (1 - beta);
    v -= lr * std::exp(logbase * sign_decay * sign(g) * sign(m)) * g;
  }
};

}  // namespace
}  // namespace tapeflow::TAPEFLOW_ISA
