"""Integration by steps of given lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tapeflow.compat.v1 as tf
from tapeflow.contrib.integrate.checks import check_types, increasing
from tapeflow.core.annotations import IntLike, Tensor

if TYPE_CHECKING:
    import numpy as np


def _midpoint(func: Callable[..., Any], y: Tensor, t: Tensor, dt: Tensor):
    step = tf.cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func: Callable[..., Any], y: Tensor, t: Tensor, dt: Tensor):
    """The classical method of Runge and Kutta."""
    step = tf.cast(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + step * k1 / 2, t + dt / 2)
    k3 = func(y + step * k2 / 2, t + dt / 2)
    k4 = func(y + step * k3, t + dt)
    return (k1 + 2 * k2 + 2 * k3 + k4) * (step / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def _check_sizes(t, dt):
    if t.shape.ndims != 1 or dt.shape.ndims != 1:
        raise ValueError("t must be a 1D tensor")
    n, m = t.shape.as_list()[0], dt.shape.as_list()[0]
    if n is not None and m is not None and n != m + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


def odeint_fixed(func: Callable[..., Any], y0: np.ndarray, t, dt=None, method: str = "rk4", name: str | None = None):
    """The solution of dy/dt = func(y, t) at given times, by steps without control of errors.

    Args:
      func: a function of the state and of a scalar time.
      y0: the state at t[0], of a floating or complex dtype.
      t: [n] increasing times; of float64 where they are no tensor.
      dt: the length of steps, or [n - 1] lengths in the intervals of t, made smaller until they divide an interval;
        one step for each interval by default.
      method: "rk4" or "midpoint".

    Returns:
      [n, ...] the states.

    Raises ValueError for another method or lengths that do not fit, TypeError for another dtype.
    """
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        y0 = tf.convert_to_tensor(y0, name="y0")
        gaps = t[1:] - t[:-1]
        dt = gaps if dt is None else tf.convert_to_tensor(dt, preferred_dtype=tf.float64, name="dt")
        counts = tf.ceil(gaps / dt)
        dt = gaps / counts
        counts = tf.cast(counts, tf.int32)
        check_types(y0, t, dt)
        _check_sizes(t, dt)
        if method not in _METHODS:
            raise ValueError(f"method not supported: {method!s}")
        return _integrated(lambda y, at, step: _METHODS[method](func, y, at, step), y0, increasing(t), dt, counts)


def _integrated(change: Callable[..., Any], y0: Any, t: Any, dt: Any, counts: Tensor):
    def interval(states, y, at, i):
        step, count = dt[i - 1], counts[i - 1]

        def once(y: Tensor, at: Tensor, j: IntLike):
            out = y + tf.cast(change(y, at, step), y.dtype)
            out.set_shape(y.shape)
            return out, at + step, j + 1

        y, at, _ = tf.while_loop(lambda y, at, j: j < count, once, (y, at, tf.constant(0)))
        return states.write(i, y), y, at, i + 1

    count = tf.size(t)
    states = tf.TensorArray(y0.dtype, count).write(0, y0)
    states, *_ = tf.while_loop(lambda states, y, at, i: i < count, interval, (states, y0, t[0], tf.constant(1)))
    out = states.stack()
    out.set_shape(t.shape.concatenate(y0.shape))
    return out
