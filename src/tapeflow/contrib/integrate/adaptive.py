"""Integration by steps whose lengths follow from an estimate of the error (Dormand and Prince 1980, Shampine 1986)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tapeflow.compat.v1 as tf
from tapeflow.contrib.integrate.checks import check_types, increasing
from tapeflow.core.annotations import IntLike, Tensor, TensorLike

if TYPE_CHECKING:
    import numpy as np

_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# Shampine's weights of the state in the middle of a step, and of the difference to a method of order 4.
_MIDDLE = (
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip
_ERROR = (
    1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192, -12231 / 42400 + 2187 / 6784,
    649 / 6300 - 11 / 84, 1 / 60,
)  # fmt: skip


class _State(NamedTuple):
    y: Any  # at the end of the last step
    f: Any  # its derivative
    t0: Any  # where the last step began
    t1: Any  # and ended
    dt: Any  # the length of the next one
    poly: Any  # coefficients of the polynomial between t0 and t1


class _History(NamedTuple):
    ends: Any
    ratios: Any


class _Control(NamedTuple):
    rtol: Any
    atol: Any
    safety: Any
    ifactor: Any
    dfactor: Any
    max_num_steps: Any


def _weighted(step: IntLike, weights: Any, ks: Sequence[Tensor]):
    return tf.add_n([(step * w) * k for w, k in zip(weights, ks, strict=True) if w])


def _step(func: Callable[..., Any], y0: Tensor, f0: Tensor, t0: Tensor, dt: Tensor):
    """(the state after a step, estimated error, derivatives at the stages)."""
    step = tf.cast(dt, y0.dtype)
    ks, y1 = [f0], y0
    for node, weights in zip(_NODES, _STAGES, strict=True):
        y1 = y0 + _weighted(step, weights, ks)
        ks.append(func(y1, t0 + node * dt))
    return y1, _weighted(step, _ERROR, ks), ks


def _fitted(y0: Tensor, y1: Tensor, ks: Sequence[Tensor], dt: Tensor):
    """The polynomial of degree 4 through both ends and the middle of a step, with the derivatives at its ends."""
    step = tf.cast(dt, y0.dtype)
    middle = y0 + _weighted(step, _MIDDLE, ks)
    d0, d1 = step * ks[0], step * ks[-1]
    return [
        -2 * d0 + 2 * d1 - 8 * y0 - 8 * y1 + 16 * middle,
        5 * d0 - 3 * d1 + 18 * y0 + 14 * y1 - 32 * middle,
        -4 * d0 + d1 - 11 * y0 - 5 * y1 + 16 * middle,
        d0,
        y0,
    ]


def _value_at(state, t: Tensor):
    x = tf.cast((t - state.t0) / (state.t1 - state.t0), state.poly[0].dtype)
    value = state.poly[0]
    for coefficient in state.poly[1:]:
        value = value * x + coefficient
    return value


def _squared(x: Tensor):
    return tf.square(tf.real(x)) + tf.square(tf.imag(x)) if x.dtype.is_complex else tf.square(x)


def _next_length(dt: Tensor, ratio: Tensor, control):
    factor = tf.cast(ratio, dt.dtype) ** tf.constant(1 / 5, dt.dtype) / control.safety
    return dt / tf.maximum(1 / control.ifactor, tf.minimum(factor, 1 / control.dfactor))


def _advance(func: Callable[..., Any], control):
    """The function that tries a step."""

    def run(state, history, count: IntLike):
        y0, dt, t0 = state.y, state.dt, state.t1
        checks = [
            tf.Assert(t0 + dt > t0, ["underflow in dt", dt]),
            tf.Assert(count < control.max_num_steps, ["max_num_steps exceeded"]),
            tf.Assert(tf.reduce_all(tf.is_finite(abs(y0))), ["non-finite values in state `y`", y0]),
        ]
        with tf.control_dependencies([c for c in checks if c is not None]):
            y1, error, ks = _step(func, y0, tf.identity(state.f), t0, dt)
        allowed = control.atol + control.rtol * tf.maximum(abs(y0), abs(y1))
        ratio = tf.sqrt(tf.reduce_mean(_squared(error) / _squared(allowed)))
        good = ratio <= 1
        y, f, t1, poly = tf.cond(
            good,
            lambda: (tf.identity(y1), tf.identity(ks[-1]), t0 + dt, _fitted(y0, y1, ks, dt)),
            lambda: (tf.identity(y0), tf.identity(state.f), tf.identity(t0), [tf.identity(c) for c in state.poly]),
        )
        for each in (y, f, *poly):
            each.set_shape(y0.shape)
        ends = history.ends.write(history.ends.size(), t0 + dt)
        ratios = history.ratios.write(history.ratios.size(), ratio)
        following = _State(y, f, t0, t1, _next_length(dt, ratio, control), poly)
        return following, _History(ends, ratios), count + 1

    return run


def _dopri5(
    func, y0, t, rtol, atol, first_step=None, safety=0.9, ifactor=10.0, dfactor=0.2, max_num_steps=1000
):
    def number(value: TensorLike):
        return tf.convert_to_tensor(value, t.dtype)

    control = _Control(
        rtol, atol, *(number(v) for v in (safety, ifactor, dfactor)), tf.convert_to_tensor(max_num_steps, tf.int32)
    )
    advance = _advance(func, control)
    t = increasing(t)
    count = tf.size(t)

    def following(states, history, state, i):
        state, history, _ = tf.while_loop(
            lambda state, *_: t[i] > state.t1, advance, (state, history, tf.constant(0)), name="integrate_loop"
        )
        return states.write(i, _value_at(state, t[i])), history, state, i + 1

    states = tf.TensorArray(y0.dtype, count).write(0, y0)
    history = _History(
        tf.TensorArray(t.dtype, 0, dynamic_size=True), tf.TensorArray(rtol.dtype, 0, dynamic_size=True)
    )
    length = number(1.0 if first_step is None else first_step)
    start = _State(y0, func(y0, t[0]), t[0], t[0], length, [y0] * 5)
    states, history, *_ = tf.while_loop(
        lambda states, history, state, i: i < count,
        following,
        (states, history, start, tf.constant(1)),
        name="interpolate_loop",
    )
    out = states.stack()
    out.set_shape(t.shape.concatenate(y0.shape))
    return out, history


def odeint(
    func: Callable[..., Any], y0: Any, t: np.ndarray, rtol: float = 1e-6, atol: float = 1e-12,
    method: str | None = None, options=None, full_output: bool = False, name: str | None = None,
):
    """The solution of dy/dt = func(y, t) at given times, by the method of Dormand and Prince.

    Args:
      func: a function of the state and of a scalar time.
      y0: the state at t[0], of a floating or complex dtype.
      t: [n] increasing times; of float64 where they are no tensor.
      rtol, atol: what error a step may have in each element: so large a part of it, and so much besides.
      method: "dopri5".
      options: with a method only: `first_step` (1.0), the factors `safety` (0.9), `ifactor` (10.0) and `dfactor` (0.2)
        that bound how steps change, and `max_num_steps` (1000) between two times.
      full_output: whether to tell how it went.

    Returns:
      [n, ...] the states; with `full_output` also a dict of `num_func_evals`, `integrate_points` (the ends of all
      steps tried) and `error_ratio` (what part of the allowed error each had).

    Raises ValueError for another method or options without one, TypeError for another dtype.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]):
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        check_types(y0, t)
        error_dtype = y0.dtype.real_dtype
        rtol, atol = (tf.convert_to_tensor(v, error_dtype) for v in (rtol, atol))
        out, history = _dopri5(func, y0, t, rtol, atol, **(options or {}))
        if not full_output:
            return out
        ends = history.ends.stack()
        return out, {
            "num_func_evals": 6 * tf.size(ends) + 1,
            "integrate_points": ends,
            "error_ratio": history.ratios.stack(),
        }
