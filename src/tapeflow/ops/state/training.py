"""The updates of the optimizers: each changes a variable and its slots in place, by one formula per element.

A rule names the formula once; from it come its rows: the dense op, the sparse op where TensorFlow has one, and two that
TensorFlow does not have: for many variables, and for slots that decay in all rows. The native kernels have the same
formulas in C++.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.ops.state.training_rule import Rule
from tapeflow.ops.validate import invalid, known


def _gradient_descent(xp: ModuleType, v: Array, g: Array, alpha: float):
    return (v - alpha * g,)


GradientDescent = Rule("GradientDescent", "", "alpha, delta", _gradient_descent)
ResourceApplyGradientDescent = GradientDescent.dense


def _momentum(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, momentum: Array, use_nesterov: bool):
    a = a * momentum + g
    return v - (g * lr + a * momentum * lr if use_nesterov else a * lr), a


Momentum = Rule(
    "Momentum", "accum", "lr, grad, momentum", _momentum, sparse=True, use_nesterov=False
)
ResourceApplyMomentum = Momentum.dense
ResourceSparseApplyMomentum = Momentum.sparse


def _keras_momentum(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, momentum: Array, use_nesterov: bool):
    a = a * momentum - g * lr
    return v + (a * momentum - g * lr if use_nesterov else a), a


KerasMomentum = Rule(
    "KerasMomentum", "accum", "lr, grad, momentum", _keras_momentum, sparse=True, use_nesterov=False
)
ResourceApplyKerasMomentum = KerasMomentum.dense
ResourceSparseApplyKerasMomentum = KerasMomentum.sparse

_ADAM_INPUTS = "beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad"


def _adam(
    xp: ModuleType, x: Array, m: Array, v: Array, g: Array, beta1_power, beta2_power, lr: Array, beta1: Array,
    beta2: Array, epsilon: float, use_nesterov: bool,
):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (g - m) * (1 - beta1)
    v = v + (g * g - v) * (1 - beta2)
    step = g * (1 - beta1) + beta1 * m if use_nesterov else m
    return x - step * alpha / (xp.sqrt(v) + epsilon), m, v


Adam = Rule("Adam", "m v", _ADAM_INPUTS, _adam, rows=True, use_nesterov=False)
ResourceApplyAdam = Adam.dense


def _amsgrad(
    xp: ModuleType, x: Array, m: Array, v: Array, vhat, g: Array, beta1_power, beta2_power, lr: Array, beta1: Array,
    beta2: Array, epsilon: float,
):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (g - m) * (1 - beta1)
    v = v + (g * g - v) * (1 - beta2)
    vhat = xp.maximum(v, vhat)
    return x - m * alpha / (xp.sqrt(vhat) + epsilon), m, v, vhat


AdamWithAmsgrad = Rule("AdamWithAmsgrad", "m v vhat", _ADAM_INPUTS, _amsgrad, rows=True)
ResourceApplyAdamWithAmsgrad = AdamWithAmsgrad.dense


def _adamax(
    xp: ModuleType, x: Array, m: Array, v: Array, g: Array, beta1_power, lr: Array, beta1: Array, beta2: Array,
    epsilon: float,
):
    m = m + (g - m) * (1 - beta1)
    v = xp.maximum(beta2 * v, xp.abs(g))
    return x - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


AdaMax = Rule("AdaMax", "m v", "beta1_power, lr, beta1, beta2, epsilon, grad", _adamax, rows=True)
ResourceApplyAdaMax = AdaMax.dense


def _nadam(
    xp: Any, x: Tensor, m: Tensor, v: Tensor, g: Tensor, beta2_power: Tensor, lr: Tensor, beta1: Tensor,
    beta2: Tensor, epsilon: Tensor, grad_weight: Tensor, m_weight: Tensor,
):
    """Dozat, "Incorporating Nesterov momentum into Adam", 2016; the weights are of the step's momentum schedule."""
    m = m * beta1 + (1 - beta1) * g
    v = v * beta2 + (1 - beta2) * (g * g)
    mean = grad_weight * g + m_weight * m
    return x - lr * mean / (xp.sqrt(v / (1 - beta2_power)) + epsilon), m, v


Nadam = Rule(
    "Nadam",
    "m v",
    "beta2_power, lr, beta1, beta2, epsilon, grad_weight, m_weight, grad",
    _nadam,
    rows=True,
    only_here=True,
)


def _lion(xp: Any, v: Tensor, m: Tensor, g: Tensor, lr: Tensor, beta1: Tensor, beta2: Tensor):
    """Chen et al., "Symbolic discovery of optimization algorithms", 2023."""
    return v - lr * xp.sign(m * beta1 + g * (1 - beta1)), m * beta2 + g * (1 - beta2)


Lion = Rule("Lion", "m", "lr, beta1, beta2, grad", _lion, rows=True, only_here=True)


def _adagrad(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, update_slots):
    a = a + g * g if update_slots else a
    return v - g * lr / xp.sqrt(a), a


Adagrad = Rule("Adagrad", "accum", "lr, grad", _adagrad, sparse=True, update_slots=True)
ResourceApplyAdagrad = Adagrad.dense
ResourceSparseApplyAdagrad = Adagrad.sparse


def _adagrad_v2(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, epsilon: float, update_slots):
    a = a + g * g if update_slots else a
    return v - g * lr / (xp.sqrt(a) + epsilon), a


AdagradV2 = Rule(
    "AdagradV2", "accum", "lr, epsilon, grad", _adagrad_v2, sparse=True, update_slots=True
)
ResourceApplyAdagradV2 = AdagradV2.dense
ResourceSparseApplyAdagradV2 = AdagradV2.sparse


def _keras_adagrad(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, epsilon: float):
    a = a + g * g
    return v - g * lr / xp.sqrt(a + epsilon), a


KerasAdagrad = Rule("KerasAdagrad", "accum", "lr, epsilon, grad", _keras_adagrad, sparse=True, only_here=True)
ResourceApplyKerasAdagrad = KerasAdagrad.dense
ResourceSparseApplyKerasAdagrad = KerasAdagrad.sparse


def _adagrad_da(
    xp: ModuleType, v: Array, total: Array, squares: Array, g: Array, lr: Array, l1: Array, l2: Array,
    global_step: Array,
):
    """Duchi et al., "Adaptive subgradient methods", 2011: dual averaging."""
    total = total + g
    squares = squares + g * g
    steps = xp.asarray(global_step, v.dtype)
    shrunk = (
        xp.sign(total) * xp.maximum(xp.abs(total) - l1 * steps, 0)
        if xp is not np or l1 > 0
        else total
    )
    return -lr * shrunk / (l2 * steps * lr + xp.sqrt(squares)), total, squares


AdagradDA = Rule(
    "AdagradDA",
    "gradient_accumulator gradient_squared_accumulator",
    "grad, lr, l1, l2, global_step",
    _adagrad_da,
    sparse=True,
)
ResourceApplyAdagradDA = AdagradDA.dense
ResourceSparseApplyAdagradDA = AdagradDA.sparse


def _adadelta(xp: ModuleType, v: Array, a: Array, u, g: Array, lr: Array, rho: Array, epsilon: float):
    a = a * rho + g * g * (1 - rho)
    step = xp.sqrt(u + epsilon) / xp.sqrt(a + epsilon) * g
    return v - step * lr, a, u * rho + step * step * (1 - rho)


Adadelta = Rule("Adadelta", "accum accum_update", "lr, rho, epsilon, grad", _adadelta, sparse=True)
ResourceApplyAdadelta = Adadelta.dense
ResourceSparseApplyAdadelta = Adadelta.sparse


def _rmsprop(xp: ModuleType, v: Array, ms, mom, g: Array, lr: Array, rho: Array, momentum: Array, epsilon: float):
    ms = ms + (g * g - ms) * (1 - rho)
    mom = mom * momentum + g * lr / xp.sqrt(ms + epsilon)
    return v - mom, ms, mom


RMSProp = Rule(
    "RMSProp", "ms mom", "lr, rho, momentum, epsilon, grad", _rmsprop, sparse=True, rows=True
)
ResourceApplyRMSProp = RMSProp.dense
ResourceSparseApplyRMSProp = RMSProp.sparse


def _centered_rmsprop(
    xp: ModuleType, v: Array, mg, ms, mom, g: Array, lr: Array, rho: Array, momentum: Array, epsilon: float
):
    ms = ms + (g * g - ms) * (1 - rho)
    mg = mg + (g - mg) * (1 - rho)
    mom = mom * momentum + g * lr / xp.sqrt(ms - mg * mg + epsilon)
    return v - mom, mg, ms, mom


CenteredRMSProp = Rule(
    "CenteredRMSProp",
    "mg ms mom",
    "lr, rho, momentum, epsilon, grad",
    _centered_rmsprop,
    sparse=True,
    rows=True,
)
ResourceApplyCenteredRMSProp = CenteredRMSProp.dense
ResourceSparseApplyCenteredRMSProp = CenteredRMSProp.sparse


def _root(xp: Any, x: Tensor, epsilon: Tensor, epsilon_in_root: bool):
    """The root of x with epsilon under it, as in Keras 3, or added to it, as in Keras 2."""
    return xp.sqrt(x + epsilon) if epsilon_in_root else xp.sqrt(x) + epsilon


def _keras_rmsprop(
    xp: Any, v: Tensor, ms: Tensor, g: Tensor, lr: Tensor, rho: Tensor, epsilon: Tensor, epsilon_in_root: bool
):
    ms = ms * rho + (1 - rho) * (g * g)
    return v - lr * g / _root(xp, ms, epsilon, epsilon_in_root), ms


KerasRMSProp = Rule(
    "KerasRMSProp", "ms", "lr, rho, epsilon, grad", _keras_rmsprop, rows=True, only_here=True,
    epsilon_in_root=False,
)


def _keras_centered_rmsprop(
    xp: Any, v: Tensor, mg: Tensor, ms: Tensor, g: Tensor, lr: Tensor, rho: Tensor, epsilon: Tensor,
    epsilon_in_root: bool,
):
    ms = ms * rho + (1 - rho) * (g * g)
    mg = mg * rho + (1 - rho) * g
    return v - lr * g / _root(xp, ms - mg * mg, epsilon, epsilon_in_root), mg, ms


KerasCenteredRMSProp = Rule(
    "KerasCenteredRMSProp",
    "mg ms",
    "lr, rho, epsilon, grad",
    _keras_centered_rmsprop,
    rows=True,
    only_here=True,
    epsilon_in_root=False,
)


def _ftrl(
    xp: ModuleType, v: Array, a: Array, linear, g: Array, lr: Array, l1: Array, l2: Array, lr_power,
    multiply_linear_by_lr, l2_shrinkage: int = 0,
):
    """McMahan et al., "Ad click prediction: a view from the trenches", 2013."""
    total = a + g * g
    before, after = a**-lr_power, total**-lr_power
    scale, over = (lr, 1) if multiply_linear_by_lr else (1, lr)
    linear = linear + (g + 2 * l2_shrinkage * v) * scale - (after - before) / over * v
    sparse = (xp.sign(linear) * l1 * scale - linear) / (after / over + 2 * l2 * scale)
    return xp.where(xp.abs(linear) <= l1 * scale, 0, sparse), total, linear  # not a number stays one


Ftrl = Rule(
    "Ftrl",
    "accum linear",
    "grad, lr, l1, l2, lr_power",
    _ftrl,
    sparse=True,
    multiply_linear_by_lr=False,
)
ResourceApplyFtrl = Ftrl.dense
ResourceSparseApplyFtrl = Ftrl.sparse
FtrlV2 = Rule(
    "FtrlV2",
    "accum linear",
    "grad, lr, l1, l2, l2_shrinkage, lr_power",
    _ftrl,
    sparse=True,
    multiply_linear_by_lr=False,
)
ResourceApplyFtrlV2 = FtrlV2.dense
ResourceSparseApplyFtrlV2 = FtrlV2.sparse


def _proximal(xp: ModuleType, x: Array, lr: float, l1: Array, l2: Array):
    for name, value in (("l1", l1), ("l2", l2)):
        if known(value) and not value >= 0:
            raise invalid(f"{name} regularization strength is not a non-negative scalar: {value}")
    return (xp.sign(x) * xp.maximum(xp.abs(x) - lr * l1, 0) if xp is not np or l1 > 0 else x) / (
        1 + l2 * lr
    )


def _proximal_gradient_descent(xp: ModuleType, v: Array, g: Array, alpha: float, l1: Array, l2: Array):
    return (_proximal(xp, v - g * alpha, alpha, l1, l2),)


ProximalGradientDescent = Rule(
    "ProximalGradientDescent", "", "alpha, l1, l2, delta", _proximal_gradient_descent, sparse=True
)
ResourceApplyProximalGradientDescent = ProximalGradientDescent.dense
ResourceSparseApplyProximalGradientDescent = ProximalGradientDescent.sparse


def _proximal_adagrad(xp: ModuleType, v: Array, a: Array, g: Array, lr: Array, l1: Array, l2: Array):
    if known(lr) and not lr > 0:
        raise invalid(f"lr is not a positive scalar: {lr}")
    a = a + g * g
    rate = lr / xp.sqrt(a)
    return _proximal(xp, v - g * rate, rate, l1, l2), a


ProximalAdagrad = Rule(
    "ProximalAdagrad", "accum", "lr, l1, l2, grad", _proximal_adagrad, sparse=True
)
ResourceApplyProximalAdagrad = ProximalAdagrad.dense
ResourceSparseApplyProximalAdagrad = ProximalAdagrad.sparse


def _add_sign(xp: ModuleType, v: Array, m: Array, g: Array, lr: Array, alpha: float, sign_decay, beta: float):
    m = m * beta + g * (1 - beta)
    return v - lr * (alpha + sign_decay * xp.sign(g) * xp.sign(m)) * g, m


AddSign = Rule("AddSign", "m", "lr, alpha, sign_decay, beta, grad", _add_sign)
ResourceApplyAddSign = AddSign.dense


def _power_sign(xp: ModuleType, v: Array, m: Array, g: Array, lr: Array, logbase, sign_decay, beta: float):
    m = m * beta + g * (1 - beta)
    return v - lr * xp.exp(logbase * sign_decay * xp.sign(g) * xp.sign(m)) * g, m


PowerSign = Rule("PowerSign", "m", "lr, logbase, sign_decay, beta, grad", _power_sign)
ResourceApplyPowerSign = PowerSign.dense
