"""Clipping by value and by norm, and the norms themselves."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, AxisLike, FloatLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.math import (
    arithmetic,
    casting,
    choice,
    comparison,
    division,
    elementwise,
    logic,
    reductions,
)
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


@op(
    "ClipByValue",
    "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    types={"T": REAL},
    shape=shapes.same_as_first,
    broadcast=True,
)
def ClipByValue(xp: ModuleType, t: Array, clip_value_min: Array, clip_value_max: Array):
    if any(bound.ndim and bound.shape != t.shape for bound in (clip_value_min, clip_value_max)):
        raise invalid(
            "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
            f"input shape: {shape_text(t.shape)}clip_value_min shape: {shape_text(clip_value_min.shape)}"
            f"clip_value_max shape: {shape_text(clip_value_max.shape)}"
        )
    return xp.maximum(xp.minimum(t, clip_value_max), clip_value_min)


ClipByValue.batching(batching.spread)


@ClipByValue.gradient(needs="t, clip_value_min, clip_value_max")
def _(call: GradientCall, dy: Tensor):
    below = comparison.Less(call.t, call.clip_value_min)
    above = comparison.Greater(call.t, call.clip_value_max)
    outside = logic.LogicalOr(below, above)
    return (
        choice.SelectV2(outside, 0, dy),
        choice.SelectV2(below, dy, 0),
        choice.SelectV2(above, dy, 0),
    )


@ClipByValue.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4), -0.5, 0.5)
    yield Sample(rng.normal(3, 4), np.full((3, 4), -0.25), 0.75)
    yield Sample(rng.normal(0), -1.0, 1.0)
    yield Sample(rng.normal(2), rng.normal(3), 1.0, raises=InvalidArgumentError)


@ClipByValue.reference
def _(t: np.ndarray, clip_value_min: np.ndarray, clip_value_max: np.ndarray):
    low, high = np.broadcast_to(clip_value_min, t.shape), np.broadcast_to(clip_value_max, t.shape)
    pairs = zip(t.flat, low.flat, high.flat, strict=True)
    return np.array([sorted((a, x, b))[1] for x, a, b in pairs]).reshape(t.shape)


@api("clip_by_value")
@tensor_function
@graph_scope("clip_by_value")
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
):
    """Raise elements below `clip_value_min` to it, and lower those above `clip_value_max` to it.

    Args:
      t: a real tensor, or `tf.IndexedSlices`.
      clip_value_min: the least value, a scalar or a tensor that broadcasts to the shape of `t`.
      clip_value_max: the greatest value, likewise.
      name: a name for the operation (optional).

    Returns:
      What `t` is, of its dtype and shape. NaN stays NaN. The gradient of clipped elements is zero.

    Raises:
      ValueError: where a bound would make the result larger than `t`.
      InvalidArgumentError: where a bound does not broadcast with `t`.

    >>> tf.clip_by_value([-5, 0, 5], -1, 1)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([-1,  0,  1], dtype=int32)>
    """
    if isinstance(t, IndexedSlices):
        return IndexedSlices(
            clip_by_value(t.values, clip_value_min, clip_value_max), t.indices, t.dense_shape
        )
    t = convert_to_tensor(t)
    lowered = arithmetic.Minimum(t, clip_value_max)
    _require_same_shape(t, lowered)
    clipped = arithmetic.Maximum(lowered, clip_value_min)
    _require_same_shape(t, clipped)
    return clipped


def _require_same_shape(t: Tensor, clipped: Tensor):
    if not t.shape.is_compatible_with(clipped.shape):
        raise ValueError(f"Shapes {t.shape} and {clipped.shape} are incompatible")


@api("clip_by_norm")
@tensor_function
@graph_scope("clip_by_norm")
def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: AxisLike | None = None, name: str | None = None):
    """Scale a tensor so that its L2 norm is at most `clip_norm`; one of smaller norm stays as it is.

    Args:
      t: a floating tensor, or `tf.IndexedSlices`.
      clip_norm: the greatest norm, a scalar or a tensor that broadcasts to the shape of `t`.
      axes: the axes along which norms are taken, each slice along them on its own; None: all elements are one
        vector.
      name: a name for the operation (optional).

    Returns:
      What `t` is, of its dtype and shape.

    >>> tf.clip_by_norm([3.0, 4.0], 1.0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.6, 0.8], dtype=float32)>
    """
    values = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)
    squares = reductions.reduce_sum(arithmetic.Mul(values, values), axes, keepdims=True)
    # The root has no slope at zero: the norm of zeros is not differentiated.
    some = comparison.Greater(squares, 0)
    safe = choice.SelectV2(some, squares, 1)
    norm = choice.SelectV2(some, elementwise.Sqrt(safe), squares)
    clip_norm = arithmetic.Maximum(convert_to_tensor(clip_norm, dtype=values.dtype), 0)
    scaled = arithmetic.Mul(values, clip_norm)
    values.shape.assert_is_compatible_with(scaled.shape)
    clipped = division.RealDiv(scaled, arithmetic.Maximum(norm, clip_norm))
    return (
        IndexedSlices(clipped, t.indices, t.dense_shape)
        if isinstance(t, IndexedSlices)
        else clipped
    )


@api(v1="clip_by_average_norm")
@tensor_function
@graph_scope("clip_by_average_norm")
def clip_by_average_norm(t: TensorLike, clip_norm: FloatLike, name: str | None = None):
    """`t`, shrunk until its L2 norm divided by its number of elements is at most `clip_norm`."""
    t = convert_to_tensor(t)
    norm = elementwise.Sqrt(reductions.reduce_sum(arithmetic.Mul(t, t)))
    known = t.shape.num_elements()
    count = casting.cast(Size(t), t.dtype) if known is None else float(known)
    inverse = arithmetic.Mul(elementwise.Reciprocal(norm), count)
    scale = arithmetic.Minimum(
        inverse, division.RealDiv(1.0, convert_to_tensor(clip_norm, t.dtype))
    )
    return arithmetic.Mul(arithmetic.Mul(t, convert_to_tensor(clip_norm, t.dtype)), scale)


def _is_list(t_list):
    if isinstance(t_list, str) or not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return t_list


@api("linalg.global_norm", v1="global_norm")
@tensor_function
@graph_scope("global_norm/")
def global_norm(t_list: Sequence[Tensor], name: str | None = None):
    """The L2 norm of all the elements of a list of tensors (or IndexedSlices, or None) together; 0 of no tensors."""
    halves = []
    for t in _is_list(t_list):
        if t is not None:
            t = t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)
            halves.append(reductions.reduce_sum(elementwise.Square(t)))
    if not halves:
        return convert_to_tensor(0.0)
    total = halves[0]
    for half in halves[1:]:
        total = arithmetic.AddV2(total, half)
    return elementwise.Sqrt(total)


@api("clip_by_global_norm")
@tensor_function
@graph_scope("clip_by_global_norm/")
def clip_by_global_norm(
    t_list: Sequence[Tensor | None], clip_norm: TensorLike, use_norm: TensorLike | None = None,
    name: str | None = None,
):
    """Scale a list of tensors by one factor, so that their global norm is at most `clip_norm`.

    The factor is `clip_norm / max(global_norm, clip_norm)`, see `tf.linalg.global_norm`. Where the norm is infinite
    or NaN, all results are NaN.

    Args:
      t_list: a list or tuple of tensors or `tf.IndexedSlices`; None stays None.
      clip_norm: the greatest norm, a positive scalar.
      use_norm: the global norm of `t_list`, where it is known already (optional).
      name: a name for the operation (optional).

    Returns:
      (the list of scaled tensors, the norm before, a scalar).

    Raises:
      TypeError: where `t_list` is not a list or tuple.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0)
    >>> clipped[0].numpy(), norm.numpy()
    (array([0.6, 0.8], dtype=float32), np.float32(5.0))
    """
    tensors = list(_is_list(t_list))
    norm = global_norm(tensors) if use_norm is None else convert_to_tensor(use_norm)
    if norm is None:
        return tensors, convert_to_tensor(0.0)
    clip_norm = convert_to_tensor(clip_norm, dtype=norm.dtype)
    one = convert_to_tensor(1.0, dtype=norm.dtype)
    scale = arithmetic.Mul(
        clip_norm,
        arithmetic.Minimum(elementwise.Reciprocal(norm), division.RealDiv(one, clip_norm)),
    )
    scale = arithmetic.AddV2(scale, arithmetic.Sub(norm, norm))
    return [_scaled(t, scale) for t in tensors], norm


def _scaled(t: Tensor, scale: bool | Tensor):
    if t is None:
        return None
    if isinstance(t, IndexedSlices):
        return IndexedSlices(arithmetic.Mul(t.values, scale), t.indices, t.dense_shape)
    return arithmetic.Mul(convert_to_tensor(t), scale)
