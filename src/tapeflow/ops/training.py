"""The updates of the optimizers: each changes a variable and its slots in place, by one formula per element.

A row names the formula once; from it come the dense op and, where TensorFlow has one, the sparse op that updates the
rows given by `indices` (an index that comes twice counts twice). The native kernels have the same formulas in C++.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.ops import shapes
from tapeflow.ops.table import INDEX, op
from tapeflow.ops.validate import invalid, known, shape_text

_TYPES = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


@dataclass(frozen=True)
class _Rule:
    slots: tuple[str, ...]
    inputs: str  # after the slots, in TensorFlow's order; `grad` or `delta` is the gradient
    update: Callable  # (xp, var, slots..., gradient, **scalars and attrs) -> new var, new slots...
    attrs: dict

    @property
    def names(self) -> list[str]:
        return self.inputs.split(", ")

    @property
    def gradient(self) -> str:
        return next(n for n in self.names if n in ("grad", "delta"))


def _check_scalar(name: str, value):
    if np.ndim(value):
        raise invalid(f"{name} is not a scalar: {shape_text(np.shape(value))}")
    return value


def _check_slots(rule: _Rule, var, slots) -> None:
    for name, slot in zip(rule.slots, slots):
        if slot.shape != var.shape:
            raise invalid(
                f"var and {name} do not have the same shape{shape_text(var.shape)} {shape_text(slot.shape)}"
            )


def _check_rows(var, grad, indices) -> None:
    if indices.ndim != 1:
        raise invalid("indices must be one-dimensional")
    if grad.ndim != var.ndim:
        raise invalid(
            f"var and grad do not have the same rank: {shape_text(var.shape)} {shape_text(grad.shape)}"
        )
    for i in range(1, var.ndim):
        if var.shape[i] != grad.shape[i]:
            raise invalid(f"var and grad must match in dimension {i}")
    if grad.shape[0] != indices.size:
        raise invalid("grad must be the same size as indices in the first dimension.")
    for offset, i in enumerate(indices.tolist() if known(indices) else ()):
        if not 0 <= i < var.shape[0]:
            raise invalid(f"Index {i} at offset {offset} in indices is out of range")


def _named(rule: _Rule, values) -> dict:
    return {n: v for n, v in zip(rule.names, values) if n != rule.gradient}


def _dense(rule: _Rule):
    def kernel(xp, *inputs, use_locking, **attrs):
        variables, values = inputs[: len(rule.slots) + 1], inputs[len(rule.slots) + 1 :]
        var, *slots = (xp.array(v.numpy()) for v in variables)
        _check_slots(rule, var, slots)
        scalars = {n: _check_scalar(n, v) for n, v in _named(rule, values).items()}
        grad = values[rule.names.index(rule.gradient)]
        if grad.shape != var.shape:
            raise invalid(
                f"var and {rule.gradient} do not have the same shape{shape_text(var.shape)} {shape_text(grad.shape)}"
            )
        with np.errstate(all="ignore"):
            results = rule.update(xp, var, *slots, grad, **scalars, **attrs)
        for variable, result in zip(variables, results):
            variable.assign(xp.asarray(result, var.dtype))

    return kernel


def _rows_by_jax(rule: _Rule, arrays, grad, indices, named) -> list:
    """The arrays with the rows `indices` updated, one after the other: one may come twice."""
    import jax

    def update(row, now):
        i = indices[row]
        results = rule.update(jax.numpy, *(a[i] for a in now), grad[row], **named)
        return [a.at[i].set(r.astype(a.dtype)) for a, r in zip(now, results)]

    return jax.lax.fori_loop(0, indices.size, update, arrays)


def _sparse(rule: _Rule):
    at = rule.names.index(rule.gradient) + 1

    def kernel(xp, *inputs, use_locking, **attrs):
        variables, values = inputs[: len(rule.slots) + 1], list(inputs[len(rule.slots) + 1 :])
        indices = values.pop(at)
        arrays = [xp.array(v.numpy()) for v in variables]
        _check_slots(rule, arrays[0], arrays[1:])
        if arrays[0].ndim < 1:
            raise invalid("var must be at least 1 dimensional")
        scalars = {n: _check_scalar(n, v) for n, v in _named(rule, values).items()}
        grad = values[at - 1]
        _check_rows(arrays[0], grad, indices)
        with np.errstate(all="ignore"):
            if xp is np:
                for row, i in enumerate(indices.tolist()):
                    results = rule.update(
                        np, *(a[i] for a in arrays), grad[row], **scalars, **attrs
                    )
                    for a, result in zip(arrays, results):
                        a[i] = result
            else:
                arrays = _rows_by_jax(rule, arrays, grad, indices, {**scalars, **attrs})
        for variable, a in zip(variables, arrays):
            variable.assign(a)

    return kernel


def _rows(name: str, slots: str, inputs: str, update, sparse: bool = False, **attrs):
    """The dense op ResourceApply<name> and, if there is one, ResourceSparseApply<name>."""
    rule = _Rule(tuple(slots.split()), inputs, update, attrs)
    variables = "".join(f"{n}: resource, " for n in ("var", *rule.slots))
    made = []
    for kernel, prefix in ((_dense(rule), "ResourceApply"), (_sparse(rule), "ResourceSparseApply")):
        signature = []
        types: dict[str, tuple[DType, ...]] = {"T": _TYPES}
        for n in rule.names:
            signature.append(f"{n}: int64" if n == "global_step" else f"{n}: T")
            if n == rule.gradient and prefix == "ResourceSparseApply":
                signature[-1] = "grad: T"
                signature.append("indices: Tindices")
                types["Tindices"] = INDEX
        if prefix == "ResourceSparseApply" and not sparse:
            break
        kernel.__name__ = prefix + name
        row = op(
            prefix + name,
            variables + ", ".join(signature) + " ->",
            types=types,
            attrs={"use_locking": False, **attrs},
            shape=shapes.fixed(),
        )(kernel)
        row.gradient(None)
        made.append(row)
    return made if sparse else made[0]


def _gradient_descent(xp, v, g, alpha):
    return (v - alpha * g,)


ResourceApplyGradientDescent = _rows("GradientDescent", "", "alpha, delta", _gradient_descent)


def _momentum(xp, v, a, g, lr, momentum, use_nesterov):
    a = a * momentum + g
    return v - (g * lr + a * momentum * lr if use_nesterov else a * lr), a


ResourceApplyMomentum, ResourceSparseApplyMomentum = _rows(
    "Momentum", "accum", "lr, grad, momentum", _momentum, sparse=True, use_nesterov=False
)


def _keras_momentum(xp, v, a, g, lr, momentum, use_nesterov):
    a = a * momentum - g * lr
    return v + (a * momentum - g * lr if use_nesterov else a), a


ResourceApplyKerasMomentum, ResourceSparseApplyKerasMomentum = _rows(
    "KerasMomentum", "accum", "lr, grad, momentum", _keras_momentum, sparse=True, use_nesterov=False
)

_ADAM_INPUTS = "beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad"


def _adam(xp, x, m, v, g, beta1_power, beta2_power, lr, beta1, beta2, epsilon, use_nesterov):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (g - m) * (1 - beta1)
    v = v + (g * g - v) * (1 - beta2)
    step = g * (1 - beta1) + beta1 * m if use_nesterov else m
    return x - step * alpha / (xp.sqrt(v) + epsilon), m, v


ResourceApplyAdam = _rows("Adam", "m v", _ADAM_INPUTS, _adam, use_nesterov=False)


def _amsgrad(xp, x, m, v, vhat, g, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (g - m) * (1 - beta1)
    v = v + (g * g - v) * (1 - beta2)
    vhat = xp.maximum(v, vhat)
    return x - m * alpha / (xp.sqrt(vhat) + epsilon), m, v, vhat


ResourceApplyAdamWithAmsgrad = _rows("AdamWithAmsgrad", "m v vhat", _ADAM_INPUTS, _amsgrad)


def _adamax(xp, x, m, v, g, beta1_power, lr, beta1, beta2, epsilon):
    m = m + (g - m) * (1 - beta1)
    v = xp.maximum(beta2 * v, xp.abs(g))
    return x - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


ResourceApplyAdaMax = _rows(
    "AdaMax", "m v", "beta1_power, lr, beta1, beta2, epsilon, grad", _adamax
)


def _adagrad(xp, v, a, g, lr, update_slots):
    a = a + g * g if update_slots else a
    return v - g * lr / xp.sqrt(a), a


ResourceApplyAdagrad, ResourceSparseApplyAdagrad = _rows(
    "Adagrad", "accum", "lr, grad", _adagrad, sparse=True, update_slots=True
)


def _adagrad_v2(xp, v, a, g, lr, epsilon, update_slots):
    a = a + g * g if update_slots else a
    return v - g * lr / (xp.sqrt(a) + epsilon), a


ResourceApplyAdagradV2, ResourceSparseApplyAdagradV2 = _rows(
    "AdagradV2", "accum", "lr, epsilon, grad", _adagrad_v2, sparse=True, update_slots=True
)


def _adagrad_da(xp, v, total, squares, g, lr, l1, l2, global_step):
    """Duchi et al., "Adaptive subgradient methods", 2011: dual averaging."""
    total = total + g
    squares = squares + g * g
    steps = xp.asarray(global_step, v.dtype)
    shrunk = xp.sign(total) * xp.maximum(xp.abs(total) - l1 * steps, 0) if xp is not np or l1 > 0 else total
    return -lr * shrunk / (l2 * steps * lr + xp.sqrt(squares)), total, squares


ResourceApplyAdagradDA, ResourceSparseApplyAdagradDA = _rows(
    "AdagradDA",
    "gradient_accumulator gradient_squared_accumulator",
    "grad, lr, l1, l2, global_step",
    _adagrad_da,
    sparse=True,
)


def _adadelta(xp, v, a, u, g, lr, rho, epsilon):
    a = a * rho + g * g * (1 - rho)
    step = xp.sqrt(u + epsilon) / xp.sqrt(a + epsilon) * g
    return v - step * lr, a, u * rho + step * step * (1 - rho)


ResourceApplyAdadelta, ResourceSparseApplyAdadelta = _rows(
    "Adadelta", "accum accum_update", "lr, rho, epsilon, grad", _adadelta, sparse=True
)


def _rmsprop(xp, v, ms, mom, g, lr, rho, momentum, epsilon):
    ms = ms + (g * g - ms) * (1 - rho)
    mom = mom * momentum + g * lr / xp.sqrt(ms + epsilon)
    return v - mom, ms, mom


ResourceApplyRMSProp, ResourceSparseApplyRMSProp = _rows(
    "RMSProp", "ms mom", "lr, rho, momentum, epsilon, grad", _rmsprop, sparse=True
)


def _centered_rmsprop(xp, v, mg, ms, mom, g, lr, rho, momentum, epsilon):
    ms = ms + (g * g - ms) * (1 - rho)
    mg = mg + (g - mg) * (1 - rho)
    mom = mom * momentum + g * lr / xp.sqrt(ms - mg * mg + epsilon)
    return v - mom, mg, ms, mom


ResourceApplyCenteredRMSProp, ResourceSparseApplyCenteredRMSProp = _rows(
    "CenteredRMSProp",
    "mg ms mom",
    "lr, rho, momentum, epsilon, grad",
    _centered_rmsprop,
    sparse=True,
)


def _ftrl(xp, v, a, linear, g, lr, l1, l2, lr_power, multiply_linear_by_lr, l2_shrinkage=0):
    """McMahan et al., "Ad click prediction: a view from the trenches", 2013."""
    total = a + g * g
    before, after = a**-lr_power, total**-lr_power
    scale, over = (lr, 1) if multiply_linear_by_lr else (1, lr)
    linear = linear + (g + 2 * l2_shrinkage * v) * scale - (after - before) / over * v
    sparse = (xp.sign(linear) * l1 * scale - linear) / (after / over + 2 * l2 * scale)
    return xp.where(xp.abs(linear) > l1 * scale, sparse, 0), total, linear


ResourceApplyFtrl, ResourceSparseApplyFtrl = _rows(
    "Ftrl",
    "accum linear",
    "grad, lr, l1, l2, lr_power",
    _ftrl,
    sparse=True,
    multiply_linear_by_lr=False,
)
ResourceApplyFtrlV2, ResourceSparseApplyFtrlV2 = _rows(
    "FtrlV2",
    "accum linear",
    "grad, lr, l1, l2, l2_shrinkage, lr_power",
    _ftrl,
    sparse=True,
    multiply_linear_by_lr=False,
)


def _proximal(xp, x, lr, l1, l2):
    for name, value in (("l1", l1), ("l2", l2)):
        if known(value) and not value >= 0:
            raise invalid(f"{name} regularization strength is not a non-negative scalar: {value}")
    return (xp.sign(x) * xp.maximum(xp.abs(x) - lr * l1, 0) if xp is not np or l1 > 0 else x) / (1 + l2 * lr)


def _proximal_gradient_descent(xp, v, g, alpha, l1, l2):
    return (_proximal(xp, v - g * alpha, alpha, l1, l2),)


ResourceApplyProximalGradientDescent, ResourceSparseApplyProximalGradientDescent = _rows(
    "ProximalGradientDescent", "", "alpha, l1, l2, delta", _proximal_gradient_descent, sparse=True
)


def _proximal_adagrad(xp, v, a, g, lr, l1, l2):
    if known(lr) and not lr > 0:
        raise invalid(f"lr is not a positive scalar: {lr}")
    a = a + g * g
    rate = lr / xp.sqrt(a)
    return _proximal(xp, v - g * rate, rate, l1, l2), a


ResourceApplyProximalAdagrad, ResourceSparseApplyProximalAdagrad = _rows(
    "ProximalAdagrad", "accum", "lr, l1, l2, grad", _proximal_adagrad, sparse=True
)


def _add_sign(xp, v, m, g, lr, alpha, sign_decay, beta):
    m = m * beta + g * (1 - beta)
    return v - lr * (alpha + sign_decay * xp.sign(g) * xp.sign(m)) * g, m


ResourceApplyAddSign = _rows("AddSign", "m", "lr, alpha, sign_decay, beta, grad", _add_sign)


def _power_sign(xp, v, m, g, lr, logbase, sign_decay, beta):
    m = m * beta + g * (1 - beta)
    return v - lr * xp.exp(logbase * sign_decay * xp.sign(g) * xp.sign(m)) * g, m


ResourceApplyPowerSign = _rows("PowerSign", "m", "lr, logbase, sign_decay, beta, grad", _power_sign)
