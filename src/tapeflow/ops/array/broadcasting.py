"""Broadcasting as ops of its own: `BroadcastTo`, `Tile`, the shapes that broadcast together, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.core.public import tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.joining import ConcatV2, Pack, stack
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.rows import Rank, Shape
from tapeflow.ops.math.arithmetic import Maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, rank_in, size_of, sizes_of, static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def _reduction() -> ModuleType:
    from tapeflow.ops.math import reduction  # a circle: it is made of this module

    return reduction


def _construction() -> ModuleType:
    from tapeflow.ops.array import construction  # a circle: it is made of this module

    return construction


def sum_to_shape(dy: Any, static_shape: TensorShape, shape: ShapeLike):
    """`dy` summed to the shape that was broadcast to its own; `shape` serves where `static_shape` is not known."""
    Sum = _reduction().Sum
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
    yield Sample([2], [3], raises=InvalidArgumentError)


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


def _tile_rule(call):
    length, multiples = shapes.vector_length(call, 1), shapes.from_value(call, 1)
    if length is None:
        return [None if call.shape(0) is None else (None,) * len(call.shape(0))]
    shape = shapes.with_rank(call.shape(0), length)
    return [tuple(map(shapes.times, shape, multiples or [None] * length))]


@op(
    "Tile",
    "input: T, multiples: Tmultiples -> output: T",
    types={"T": ANY, "Tmultiples": Preferring(INDEX)},
    shape=_tile_rule,
    foldable=True,
)
def Tile(xp: ModuleType, input: Array, multiples: Array):
    if np.ndim(multiples) != 1:
        raise invalid(
            f"Expected multiples to be 1-D, but got shape {shape_text(np.shape(multiples))}"
        )
    if len(multiples) != input.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {input.ndim} but got length "
            f"{len(multiples)}"
        )
    times = [int(m) for m in multiples]
    for i, m in enumerate(times):
        if m < 0:
            raise invalid(f"Expected multiples[{i}] >= 0, but got {m}")
    dimensions([d * m for d, m in zip(input.shape, times, strict=True)], "the output shape")
    return xp.tile(input, times) if times else xp.array(input)


Tile.batching(batching.per_axis(multiples=1))


@Tile.gradient(needs="multiples")
def _(call: GradientCall, dy: Tensor):
    Sum = _reduction().Sum
    static, times = call.static_shape("input"), static_value(call.multiples)
    if static.is_fully_defined() and times is not None:
        folded = np.stack([times, static.as_list()], 1).ravel().astype(np.int64)
        axes = np.arange(0, 2 * len(times), 2, dtype=np.int32)
        return Sum(Reshape(dy, folded), axes), None
    range_ = _construction().range
    folded = Reshape(Pack([cast(call.multiples, np.int32), call.shape("input")], 1), [-1])
    return Sum(Reshape(dy, folded), range_(0, 2 * rank_in(call, "input"), 2)), None


@Tile.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), [2, 1])
    yield Sample(rng.normal(2, 3), [1, 3])
    yield Sample(rng.normal(2), [0])
    yield Sample(rng.normal(), np.zeros(0, np.int32))
    yield Sample(rng.normal(2, 3), [2], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [2, -1], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[2, 1]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), np.array([2**40, 2**40]), raises=InvalidArgumentError)


@Tile.reference
def _(input: np.ndarray, multiples: np.ndarray):
    out = np.asarray(input)
    for axis, m in enumerate(multiples):
        n = out.shape[axis]
        out = np.take(out, np.arange(n * int(m)) % max(n, 1), axis)
    return out


@api("tile", v1="manip.tile")
@tensor_function
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """Repeat a whole tensor along its dimensions.

    Args:
      input: a tensor of any dtype.
      multiples: how often along each dimension, a vector of int32 or int64 with as many numbers as `input` has
        dimensions.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, whose dimension i has size `input.shape[i] * multiples[i]`.

    Raises:
      InvalidArgumentError: for negative multiples, and where there are more or fewer than dimensions.

    >>> tf.tile([[1, 2]], [2, 2])
    <tf.Tensor: shape=(2, 4), dtype=int32, numpy=
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)>
    """
    return Tile(input, multiples)


@api("repeat")
@tensor_function
def repeat(input, repeats, axis=None, name=None):
    """Repeat the elements of a tensor along an axis.

    Args:
      input: a tensor of any dtype.
      repeats: how often, a scalar for all or a vector with a count for each element along the axis.
      axis: the axis, an int in [-rank, rank); None: `input` is flattened first.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`, but for the size of the axis, which is the sum of the counts.

    Raises:
      InvalidArgumentError: for negative counts.
      ValueError: for an axis out of range, and for as many counts as do not fit.

    >>> tf.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4],
           [3, 4]], dtype=int32)>
    >>> tf.repeat([[1, 2], [3, 4]], 2)
    <tf.Tensor: shape=(8,), dtype=int32, numpy=array([1, 1, 2, 2, 3, 3, 4, 4], dtype=int32)>
    """
    from tapeflow.ops.array.gather import gather

    input = convert_to_tensor(input)
    if axis is None:
        input, axis = Reshape(input, [-1]), 0
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(
            f"Argument `axis` must be an int. Received `axis` = {axis} of type {type(axis).__name__}"
        )
    input = _at_least_vector(input)
    if input.shape.rank is None and axis < 0:
        raise ValueError(f"axis={axis} may only be negative if rank(data) is statically known.")
    if input.shape.rank is not None:
        if not -input.shape.rank <= axis < input.shape.rank:
            raise ValueError(f"axis={axis} out of bounds: expected -{input.shape.rank}<=axis<{input.shape.rank}")
        # So that the gradient is dense, as TensorFlow's, and not the rows that were read.
        input = Reshape(input, as_shape(sizes_of(input)))
    if not isinstance(repeats, _native.Tensor) and getattr(repeats, "dtype", None) != np.int64:
        given = convert_to_tensor(repeats)
        if not given.dtype.is_integer and not isinstance(repeats, (np.ndarray, np.generic)) and np.size(repeats):
            raise TypeError(
                f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {repeats} "
                f"of dtype: {given.dtype!r}"
            )
        repeats = given if given.dtype.is_integer else convert_to_tensor(repeats, dtypes.int32)
    times, size = static_value(repeats), size_of(input, axis)
    known = repeats.shape.as_list() if times is None and repeats.shape.rank else []
    if times is not None:
        known = list(times.shape)
    if len(known) > 1:
        raise ValueError(f"Shape {tuple(known)} must have rank at most 1")
    if known and isinstance(size, int) and known[0] not in (None, 1, size):
        raise ValueError(f"Dimensions {size} and {known[0]} are not compatible")
    if times is None or not isinstance(size, int):
        return gather(input, _repeated(repeats, size), axis=axis)
    if (times < 0).any():
        raise invalid(f"Argument `repeats` must be >= 0, got {times.tolist()}")
    times = np.broadcast_to(times, (size,))
    try:
        if times.sum(dtype=np.float64) > 2**60:  # beyond any memory, and close to where NumPy's sum overflows
            raise MemoryError
        where = np.repeat(np.arange(size), times)
    except MemoryError:
        raise ResourceExhaustedError(None, None, f"OOM when repeating {size} elements") from None
    return gather(input, where, axis=axis)


def _at_least_vector(x: Tensor):
    """`x`, a scalar as a vector of one element."""
    if x.shape.rank is not None:
        return x if x.shape.rank else Reshape(x, [1])
    fill = _construction().fill
    missing = Maximum(1 - Rank(x), 0)
    return Reshape(x, ConcatV2([fill(stack([missing]), 1), Shape(x)], 0))


def _repeated(times, size: TensorLike):
    """The numbers below `size`, each as often as `times` says, where one of both is not known yet."""
    range_ = _construction().range
    from tapeflow.ops.array.selection import searchsorted

    ends = cumsum(BroadcastTo(cast(times, np.int32), stack([size])))
    # A number's copies end where the sum of the counts up to it does.
    total = ConcatV2([[0], ends], 0)[-1]
    return searchsorted(ends, range_(total), side="right")
