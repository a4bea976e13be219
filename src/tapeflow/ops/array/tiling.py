"""Tensors repeated along their dimensions: `tile` and `repeat`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow import _native
from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import ranges
from tapeflow.ops.array.broadcasting import BroadcastTo, reduction_rows
from tapeflow.ops.array.construction import fill
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.array.stacking import Pack, stack
from tapeflow.ops.math.arithmetic import Maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, rank_in, size_of, sizes_of, static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


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
    Sum = reduction_rows().Sum
    static, times = call.static_shape("input"), static_value(call.multiples)
    if static.is_fully_defined() and times is not None:
        folded = np.stack([times, static.as_list()], 1).ravel().astype(np.int64)
        axes = np.arange(0, 2 * len(times), 2, dtype=np.int32)
        return Sum(Reshape(dy, folded), axes), None
    range_ = ranges.range
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
    from tapeflow.ops.indexing.gather import gather

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
    missing = Maximum(1 - Rank(x), 0)
    return Reshape(x, ConcatV2([fill(stack([missing]), 1), Shape(x)], 0))


def _repeated(times, size: TensorLike):
    """The numbers below `size`, each as often as `times` says, where one of both is not known yet."""
    range_ = ranges.range
    from tapeflow.ops.indexing.selection import searchsorted

    ends = cumsum(BroadcastTo(cast(times, np.int32), stack([size])))
    # A number's copies end where the sum of the counts up to it does.
    total = ConcatV2([[0], ends], 0)[-1]
    return searchsorted(ends, range_(total), side="right")
