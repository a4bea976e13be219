"""Broadcasting as ops of its own: `BroadcastTo`, `Tile`, the shapes that broadcast together, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def reduction_rows() -> ModuleType:
    from tapeflow.ops.math import reduction  # a circle: it is made of this module

    return reduction


def sum_to_shape(dy: Any, static_shape: TensorShape, shape: ShapeLike):
    """`dy` summed to the shape that was broadcast to its own; `shape` serves where `static_shape` is not known."""
    Sum = reduction_rows().Sum
    whole = dy.shape
    if whole.is_fully_defined() and static_shape.is_fully_defined():
        old, new = static_shape.as_list(), whole.as_list()
        if old == new:
            return dy
        axes = _reduced_axes(old, new)
        return Reshape(Sum(dy, np.array(axes, np.int32)) if axes else dy, np.array(old, np.int64))

    axes = BroadcastGradientArgs(shape, Shape(dy)).r0
    return Reshape(Sum(dy, axes), shape)


def _reduced_axes(old, new) -> list[int]:
    """The axes of shape `new` along which shape `old` was repeated."""
    lead = len(new) - len(old)
    return [i for i in range(len(new)) if i < lead or (old[i - lead] == 1 and new[i] != 1)]


def _broadcast_shape(s0: Any, s1: Any) -> list[int]:
    a, b = [int(d) for d in s0], [int(d) for d in s1]
    rank = max(len(a), len(b))
    out = []
    for x, y in zip([1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b, strict=True):
        if x != y and x != 1 and y != 1:
            raise invalid(f"Incompatible shapes: {shape_text(a)} vs. {shape_text(b)}")
        out.append(y if x == 1 else x)
    return out


def _require_vectors(*inputs) -> None:
    for i, x in enumerate(inputs):
        if np.ndim(x) != 1:
            raise invalid(f"In[{i}] must be a vector.{shape_text(np.shape(x))}")


def _longer(call: ShapeCall):
    x, y = shapes.vector_length(call, 0), shapes.vector_length(call, 1)
    return [(None if x is None or y is None else max(x, y),)]


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", types={"T": Preferring(INDEX)}, shape=_longer, foldable=True)  # fmt: skip
def BroadcastArgs(xp: ModuleType, s0: np.ndarray, s1: np.ndarray):
    _require_vectors(s0, s1)
    return np.array(_broadcast_shape(s0, s1), s0.dtype)


BroadcastArgs.gradient(None)


BroadcastArgs.compiled(static="s0, s1")


@BroadcastArgs.samples
def _(rng: SampleGenerator):
    yield Sample([2, 1], [3], expect=np.array([2, 3], np.int32))
    yield Sample(np.zeros(0, np.int32), [3], expect=np.array([3], np.int32))
    yield Sample([0, 3], [1], expect=np.array([0, 3], np.int32))
    yield Sample([2], [3], raises=InvalidArgumentError)
    yield Sample([[2]], [3], raises=InvalidArgumentError)


@op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    types={"T": Preferring(INDEX)},
    ranks="s0: 1, s1: 1",
    shape=lambda call: [(None,), (None,)],
)
def BroadcastGradientArgs(xp: ModuleType, s0: Array, s1: Array):
    _require_vectors(s0, s1)
    whole = _broadcast_shape(s0, s1)
    if np.array_equal(s0, s1):
        return np.zeros(0, s0.dtype), np.zeros(0, s0.dtype)
    a, b = ([int(d) for d in s] for s in (s0, s1))
    return tuple(
        np.array(
            [i for i in range(len(whole)) if i < len(whole) - len(s) or s[i - len(whole)] == 1],
            s0.dtype,
        )
        for s in (a, b)
    )


BroadcastGradientArgs.gradient(None)


BroadcastGradientArgs.compiled(static="s0, s1")


@BroadcastGradientArgs.samples
def _(rng: SampleGenerator):
    yield Sample([2, 3, 5], [1], expect=(np.zeros(0, np.int32), np.array([0, 1, 2], np.int32)))
    yield Sample([1], [2, 3, 5], expect=(np.array([0, 1, 2], np.int32), np.zeros(0, np.int32)))
    yield Sample([1, 3], [1, 3], expect=(np.zeros(0, np.int32), np.zeros(0, np.int32)))
    yield Sample(np.array([1, 3]), np.array([3]), expect=(np.array([0]), np.array([0])))
    yield Sample([0, 1, 4], [1, 4], expect=(np.array([1], np.int32), np.array([0, 1], np.int32)))
    yield Sample(np.zeros(0, np.int32), np.zeros(0, np.int32), expect=(np.zeros(0, np.int32), np.zeros(0, np.int32)))
    yield Sample([2], [3], raises=InvalidArgumentError)
    yield Sample(2, [3], raises=InvalidArgumentError)


def _broadcast_to_rule(call: ShapeCall):
    given, target = call.shape(0), shapes.from_value(call, 1)
    if given is None or target is None:
        return [target]
    if len(given) > len(target):
        raise invalid(f"Shape must be at most rank {len(target)} but is rank {len(given)}")
    lead = len(target) - len(given)
    last = [
        shapes.exactly(t, d) if d is not None and d > 1 else t
        for t, d in zip(target[lead:], given, strict=True)
    ]
    return [(*target[:lead], *last)]


@op(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    types={"T": ANY, "Tidx": Preferring(INDEX)},
    shape=_broadcast_to_rule,
)
def BroadcastTo(xp: ModuleType, input: Array, shape: Array):
    target = dimensions(shape)
    if input.ndim > len(target):
        raise invalid(
            f"Rank of input ({input.ndim}) must be no greater than rank of output shape ({len(target)})."
        )
    tail = target[len(target) - input.ndim :]
    if any(a not in (1, b) for a, b in zip(input.shape, tail, strict=True)):
        raise invalid(
            f"Unable to broadcast tensor of shape {shape_text(input.shape)} to tensor of shape {shape_text(target)}"
        )
    return xp.array(xp.broadcast_to(input, target))


@BroadcastTo.batching
def _(call: BatchedCall):
    (rank,) = call.inputs[1].shape.as_list()
    if rank is None or call.ranks[0] is None or not call.only([0]):
        return None
    return call.run([call.aligned(0, rank), call.with_size(call.inputs[1])])


@BroadcastTo.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return sum_to_shape(dy, call.static_shape("input"), call.shape("input")), None


@BroadcastTo.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3), [2, 3])
    yield Sample(rng.normal(2, 1), [4, 2, 3])
    yield Sample(rng.normal(), [2, 2])
    yield Sample(rng.normal(1, 3), [0, 3])
    yield Sample(rng.normal(3), [2, 4], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [3], raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [-1, 3], raises=InvalidArgumentError)


@BroadcastTo.reference
def _(input: Any, shape: Sequence[Any]):
    return np.asarray(input) + np.zeros(tuple(shape), np.asarray(input).dtype)


@api("broadcast_to")
@tensor_function
def broadcast_to(input: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """Repeat a tensor along dimensions of size 1, and along new first dimensions, to give it a shape.

    Args:
      input: a tensor of any dtype.
      shape: the shape of the result, a vector of int32 or int64.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input` and of shape `shape`.

    Raises:
      InvalidArgumentError: where `input` does not broadcast to `shape`.

    >>> tf.broadcast_to([1, 2, 3], [2, 3])
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)>
    """
    return BroadcastTo(input, shape)


@api("broadcast_dynamic_shape")
@tensor_function
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """Compute the shape that two shapes broadcast to, when the program runs.

    Args:
      shape_x, shape_y: vectors of sizes, int32 or int64.

    Returns:
      A vector of their dtype.

    Raises:
      InvalidArgumentError: where they do not broadcast.

    >>> tf.broadcast_dynamic_shape([1, 2, 3], [5, 1, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 2, 3], dtype=int32)>
    """
    return BroadcastArgs(shape_x, shape_y)


@api("broadcast_static_shape")
@tensor_function
def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape):
    """Compute the shape that two static shapes broadcast to.

    Args:
      shape_x, shape_y: `tf.TensorShape`s, or what makes one; they may be partly known.

    Returns:
      A `tf.TensorShape`.

    Raises:
      ValueError: where they do not broadcast.

    >>> tf.broadcast_static_shape(tf.TensorShape([1, 2, 3]), tf.TensorShape([5, 1, 3]))
    TensorShape([5, 2, 3])
    """
    a, b = TensorShape(shape_x), TensorShape(shape_y)
    try:
        shape = shapes.broadcast(
            None if a.rank is None else tuple(a.as_list()),
            None if b.rank is None else tuple(b.as_list()),
        )
    except InvalidArgumentError:
        raise ValueError(
            f"Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension "
            f"pair they are either equal or one of them is 1. Received: {a} and {b}."
        ) from None
    return TensorShape(shape)
