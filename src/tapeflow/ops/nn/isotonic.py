"""Isotonic regression: the closest sequence that never rises, by pooling neighbours that do."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import elementwise
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.segment_functions import unsorted_segment_mean
from tapeflow.ops.signature import dtype
from tapeflow.ops.static import size_of
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall


def _rule(call: ShapeCall):
    return [call.shape(0)] * 2


def _pooled(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The regression of one sequence, and the number of the block that each element is in."""
    sums: list[float] = []
    counts: list[int] = []
    for value in row.tolist():
        total, count = float(value), 1
        # A block that is above the one before is merged with it.
        while sums and total * counts[-1] > sums[-1] * count:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    means = np.array(sums) / np.array(counts, float)
    return np.repeat(means, counts), np.repeat(np.arange(len(counts)), counts)


@op(
    "IsotonicRegression",
    "input: T -> output: output_dtype, segments: int32",
    types={"T": REAL},
    attrs={"output_dtype": dtype(dtypes.float32)},
    shape=_rule,
)
def IsotonicRegression(xp: ModuleType, input: np.ndarray, output_dtype: DType):
    if not output_dtype.is_floating:
        raise invalid(f"output_dtype must be a float, got {output_dtype.name}")
    input_shape, input = input.shape, np.atleast_1d(input)
    out = np.empty(input.shape, np.float64)
    segments = np.empty(input.shape, np.int32)
    if input.size:
        width = input.shape[-1]
        flat = input.reshape(-1, width)
        rows = zip(flat, out.reshape(-1, width), segments.reshape(-1, width), strict=True)
        for row, y, s in rows:
            y[:], s[:] = _pooled(row)
    return out.astype(output_dtype.as_numpy_dtype).reshape(input_shape), segments.reshape(input_shape)


IsotonicRegression.compiled(never="how it pools depends on the values")


@IsotonicRegression.gradient(needs="segments", none=True)
def _(call: GradientCall, dy: Tensor | None, _segments: Tensor | None):
    if dy is None:
        return None
    # Each element of a block moves all of it by its share.
    segments = call.segments
    # Of a scalar the last dimension is this one.
    width = concat([[1], shape_of(segments)], 0)[-1]
    flat = layout.reshape(segments, stack([-1, width]))
    rows = size_of(flat, 0)
    numbers = layout.reshape(flat + layout.expand_dims(range_(rows) * width, 1), [-1])
    shares = unsorted_segment_mean(layout.reshape(dy, [-1]), numbers, rows * width)
    return cast(layout.reshape(gather(shares, numbers), shape_of(segments)), call.dtype("input"))


@IsotonicRegression.samples
def _(rng):
    exact = {"output_dtype": dtypes.float64}
    yield Sample(np.array([[3.0, 1, 2, 2, 5], [1, 2, 3, 4, 0]]), **exact)
    yield Sample(rng.normal(2, 3, 7), **exact)
    yield Sample(np.array([3.0, 1.0, 2.0], np.float32))
    yield Sample(np.zeros((2, 0)), **exact)
    yield Sample(np.array([[3, 1, 2]], np.int32), **exact)
    yield Sample(np.float32(3.0), expect=(np.float32(3), np.int32(0)))
    yield Sample(np.array([3.0]), output_dtype=dtypes.int32, raises=InvalidArgumentError)


@IsotonicRegression.reference
def _(input: np.ndarray, output_dtype: DType):
    """Element i is the least, over j <= i, of the greatest mean of the elements j to k >= i."""
    y, s = np.zeros(input.shape), np.zeros(input.shape, np.int32)
    for at in np.ndindex(*input.shape[:-1]) if input.size else ():
        x = input[at].astype(float)
        size = range(len(x))
        y[at] = [min(max(x[j : k + 1].mean() for k in size[i:]) for j in size[: i + 1]) for i in size]
        s[at] = np.cumsum(np.abs(np.diff(y[at], prepend=y[at][:1])) > 1e-12)
    return y, s


_RESULTS = {
    dtypes.float64: dtypes.float64,
    dtypes.float32: dtypes.float32,
    dtypes.float16: dtypes.float16,
    dtypes.bfloat16: dtypes.bfloat16,
    dtypes.int8: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


@api(v2="nn.isotonic_regression")
@tensor_function
def isotonic_regression(inputs: Any, decreasing: bool = True, axis=-1):
    """Find the closest sequences, in the sum of squares, that never rise.

    Args:
      inputs: a floating or signed integer tensor of rank 1 at least.
      decreasing: whether sequences must not rise; else they must not fall.
      axis: the axis along which they run.

    Returns:
      (the sequences, of the shape of `inputs`; int32 numbers of their constant pieces).

    Raises:
      TypeError: for other dtypes.
      InvalidArgumentError: for an axis out of range.

    >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0])[0]
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([3. , 1.5, 1.5], dtype=float32)>
    """
    inputs = convert_to_tensor(inputs)
    kind = _RESULTS.get(inputs.dtype)
    if kind is None:
        raise TypeError(f"Dtype not supported: {inputs.dtype!r}")
    rank = inputs.shape.rank
    if rank is not None and not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, f"axis {axis} is out of range for shape {inputs.shape}")
    swap = transposing.axis_swapped(inputs, axis)
    x = inputs if swap is None else transposing.transpose(inputs, swap)
    found = IsotonicRegression(x if decreasing else elementwise.Neg(x), kind)
    if decreasing and swap is None:
        return found
    y, segments = found
    y = y if decreasing else elementwise.Neg(y)
    if swap is None:
        return y, segments
    return transposing.transpose(y, swap), transposing.transpose(segments, swap)
