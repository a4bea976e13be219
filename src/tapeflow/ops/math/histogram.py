"""Counts of values: bincount, histograms, buckets, confusion matrices."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.joining import stack
from tapeflow.ops.array.layout import Reshape, Squeeze
from tapeflow.ops.array.rows import Rank, Size
from tapeflow.ops.array.scatter import ScatterNd
from tapeflow.ops.control.flow import cond
from tapeflow.ops.folding import fold_at
from tapeflow.ops.math import arithmetic, casting, comparison, reduction
from tapeflow.ops.math.elementwise import Floor
from tapeflow.ops.signature import dtype, floats
from tapeflow.ops.static import static_value
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

WEIGHTS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def _size(size: Any):
    count = one_value(size, f"Shape must be rank 0 but is rank {np.ndim(size)}")
    if count < 0:
        raise invalid(f"size ({count}) must be non-negative")
    return count


def _check_weights(values: Any, weights: Any, name: str):
    if weights.size and weights.shape != values.shape:
        raise invalid(
            f"`weights` must be the same shape as `{name}` or a length-0 `Tensor`, in which case it acts as all "
            f"weights equal to 1. Received {shape_text(weights.shape)}"
        )


def _counted_by_jax(xp: ModuleType, values: Array, size, weights):
    heavy = xp.broadcast_to(weights if weights.size else xp.ones((), weights.dtype), values.shape)
    return xp.zeros(size, weights.dtype).at[values].add(heavy, mode="drop")


def _counted(values: np.ndarray, size: int, weights: np.ndarray):
    kept = values < size
    heavy = np.broadcast_to(weights if weights.size else np.ones((), weights.dtype), values.shape)
    out = np.zeros(size, weights.dtype)
    fold_at(np.add, out, values[kept], heavy[kept])
    return out


@op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    types={"T": WEIGHTS},
    shape=lambda call: [(shapes.size_value(call, 1),)],
)
def Bincount(xp: ModuleType, arr: Array, size: Array, weights: Array):
    count = _size(size)
    _check_weights(arr, weights, "arr")
    if (arr < 0).any():
        raise invalid(f"Input arr must be non-negative! Found {arr.min()}")
    return _counted(arr.ravel(), count, weights.ravel())


Bincount.gradient(None)


@Bincount.compiled()
def _(xp: ModuleType, arr: Array, size: Array, weights: Array):
    _check_weights(arr, weights, "arr")
    return _counted_by_jax(xp, arr.ravel(), _size(size), weights.ravel())


@Bincount.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1, 1, 5, 0], np.int32), 4, rng.normal(4))
    yield Sample(np.array([[1, 2]], np.int32), 3, np.zeros(0))
    yield Sample(np.array([1], np.int32), -1, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([-1], np.int32), 2, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([1, 2], np.int32), 2, np.zeros(3), raises=InvalidArgumentError)


@Bincount.reference
def _(arr: np.ndarray, size: np.ndarray, weights: np.ndarray):
    heavy = weights.ravel() if weights.size else np.ones(arr.size)
    pairs = list(zip(arr.ravel().tolist(), heavy.tolist(), strict=True))
    return np.array([sum(w for v, w in pairs if v == i) for i in range(int(size))], float)


def _dense_shape(call: ShapeCall):
    shape, bins = call.shape(0), shapes.size_value(call, 1)
    return [None if shape is None else (*shape[:-1], bins) if len(shape) == 2 else (bins,)]


@op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T -> output: T",
    types={"Tidx": INDEX, "T": WEIGHTS},
    attrs={"binary_output": False},
    ranks="input: 0-2",
    shape=_dense_shape,
)
def DenseBincount(xp: ModuleType, input: Array, size: Array, weights: Array, binary_output: bool):
    count = _size(size)
    if input.ndim > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.ndim}")
    _check_weights(input, weights, "arr")
    if (input < 0).any():
        raise invalid(
            f"Input 'in' must be non-negative! Negative input value found: {input[input < 0][0]}"
        )
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 2 else input.reshape(1, -1)
    heavy = weights.reshape(rows.shape) if weights.size and not binary_output else None
    none = np.zeros(0, weights.dtype)
    out = [_counted(r, count, none if heavy is None else heavy[i]) for i, r in enumerate(rows)]
    table = np.array(out, weights.dtype).reshape(*input.shape[:-1], count) if input.ndim else out[0]
    return np.minimum(table, 1) if binary_output else table


DenseBincount.gradient(None)


@DenseBincount.compiled()
def _(xp: ModuleType, input: Array, size: Array, weights: Array, binary_output: bool):
    _check_weights(input, weights, "arr")
    count = _size(size)
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 2 else input.reshape(1, -1)
    heavy = weights.reshape(rows.shape) if weights.size and not binary_output else None
    none = xp.zeros(0, weights.dtype)
    out = [
        _counted_by_jax(xp, r, count, none if heavy is None else heavy[i])
        for i, r in enumerate(rows)
    ]
    table = xp.array(out).reshape(*input.shape[:-1], count) if input.ndim else out[0]
    return xp.minimum(table, 1) if binary_output else table


@DenseBincount.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([[1, 1], [0, 5]], np.int32), 4, rng.normal(2, 2))
    yield Sample(np.array([1, 1, 2], np.int64), np.asarray(3, np.int64), np.zeros(0))
    yield Sample(np.array([1, 1, 2], np.int32), 3, np.zeros(0), binary_output=True)
    yield Sample(np.array([1], np.int32), -1, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([-1], np.int32), 2, np.zeros(0), raises=InvalidArgumentError)
    yield Sample(np.array([1, 2], np.int32), 2, np.zeros(3), raises=InvalidArgumentError)


@DenseBincount.reference
def _(input: np.ndarray, size: np.ndarray, weights: np.ndarray, binary_output: bool):
    rows = np.atleast_2d(input)
    heavy = weights.reshape(rows.shape) if weights.size else np.ones(rows.shape)
    out = np.array(
        [[(w * (r == i)).sum() for i in range(int(size))] for r, w in zip(rows, heavy, strict=True)]
    )
    out = (out > 0).astype(float) if binary_output else out
    return out if input.ndim == 2 else out[0]


@api(v2="math.bincount")
@tensor_function
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype: DTypeLike = dtypes.int32,
    name: str | None = None, axis: AxisLike | None = None, binary_output: bool = False,
):
    """Count how often each of the integers 0, 1, ... occurs, or add up their weights.

    Args:
      arr: a tensor of integers that are not negative; other numbers are truncated to integers.
      weights: what each element counts, of the shape of `arr` (optional).
      minlength: how many counts there are at least.
      maxlength: how many counts there are at most; larger integers are left out.
      dtype: the dtype of the counts: int32, int64, float32 or float64. Sums of weights have the dtype of these.
      name: a name for the operation (optional).
      axis: None or 0 counts all elements; -1 counts those of each row of a matrix.
      binary_output: whether to tell just if an integer occurs, as 1 or 0; excludes `weights`.

    Returns:
      A vector of `max(arr) + 1` counts, as far as `minlength` and `maxlength` allow; a matrix with one row for each
      row of `arr` where `axis` is -1.

    Raises:
      InvalidArgumentError: for negative integers.
      ValueError: for another axis, and for `binary_output` with `weights`.

    >>> tf.math.bincount([1, 1, 3])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 2, 0, 1], dtype=int32)>
    >>> tf.math.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0. , 1.5, 0. , 2. ], dtype=float32)>
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    arr = convert_to_tensor(arr)
    if not arr.dtype.is_integer:
        arr = casting.cast(arr, dtypes.int32)
    elif arr.dtype not in (dtypes.int32, dtypes.int64):
        arr = casting.cast(arr, dtypes.int64 if arr.dtype.size > 4 else dtypes.int32)
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one."
        )
    size = _bins(arr, minlength, maxlength)
    if weights is None:
        weights = np.zeros(0, dtypes.as_dtype(dtype).as_numpy_dtype)
    if axis != -1:
        arr = Reshape(arr, [-1])
        weights = convert_to_tensor(weights)
        weights = Reshape(weights, [-1])
    return DenseBincount(arr, size, weights, bool(binary_output))


def _bins(arr, minlength, maxlength):
    largest = reduction.reduce_max(arr)
    some = casting.cast(comparison.Greater(Size(arr), 0), arr.dtype)
    size = arithmetic.Mul(some, arithmetic.AddV2(arithmetic.Maximum(largest, -1), 1))
    if minlength is not None:
        size = arithmetic.Maximum(size, casting.cast(minlength, arr.dtype))
    if maxlength is not None:
        size = arithmetic.Minimum(size, casting.cast(maxlength, arr.dtype))
    return size


@api(v1=("math.bincount", "bincount"))
@tensor_function
def bincount_v1(arr, weights=None, minlength=None, maxlength=None, dtype: DTypeLike = dtypes.int32):
    """`bincount` as 1.x spells it."""
    return bincount(arr, weights, minlength, maxlength, dtype)


def _bin_of(values: np.ndarray, low: float, high: float, bins: int):
    place = np.floor((values.astype(np.float64) - low) / (high - low) * bins)
    return np.clip(place, 0, bins - 1).astype(np.int64)


def _range_of(value_range: Any, nbins: Any):
    bins = one_value(nbins, "nbins should be a scalar")
    if bins <= 0:
        raise invalid(f"nbins should be a positive number, but got '{bins}'")
    if value_range.shape != (2,):
        raise invalid(
            f"value_range should be a vector of 2 elements, but got shape {shape_text(value_range.shape)}"
        )
    low, high = float(value_range[0]), float(value_range[1])
    if not low < high:
        raise invalid(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{value_range[0]}, {value_range[1]}]'"
        )
    return low, high, bins


def _bins_rule(call: ShapeCall):
    shapes.exactly(shapes.vector_length(call, 1), 2)
    return [(shapes.size_value(call, 2, least=1),)]


@op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    types={"T": WEIGHTS},
    attrs={"dtype": dtype(dtypes.int32)},
    shape=_bins_rule,
)
def HistogramFixedWidth(xp: ModuleType, values: Array, value_range: Array, nbins: Array, dtype: DType):
    low, high, bins = _range_of(value_range, nbins)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise invalid("Histogram values must not contain NaN")
    counts = np.bincount(_bin_of(values.ravel(), low, high, bins), minlength=bins)
    return counts.astype(dtype.as_numpy_dtype)


@HistogramFixedWidth.compiled()
def _(xp: ModuleType, values: Array, value_range: Array, nbins: Array, dtype: DType):
    bins, limits = _size(nbins), value_range.astype(np.float64)
    width = limits[1] - limits[0]
    place = xp.floor((values.ravel().astype(np.float64) - limits[0]) / width * bins)
    return xp.bincount(xp.clip(place, 0, bins - 1).astype(np.int64), length=bins)


HistogramFixedWidth.gradient(None)


@HistogramFixedWidth.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), np.array([0.0, 5.0]), 5)
    yield Sample(rng.normal(4, 5), np.array([-1.0, 1.0]), 3, dtype=dtypes.int64)
    yield Sample(rng.normal(2), np.array([1.0, -1.0]), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2), np.array([0.0, 1.0]), 0, raises=InvalidArgumentError)
    yield Sample(np.array([np.nan]), np.array([0.0, 1.0]), 2, raises=InvalidArgumentError)


@HistogramFixedWidth.reference
def _(values: np.ndarray, value_range: np.ndarray, nbins: np.ndarray, dtype: DType):
    edges = np.linspace(value_range[0], value_range[1], int(nbins) + 1)[1:-1].tolist()
    places = [bisect.bisect_right(edges, v) for v in values.ravel().tolist()]
    return np.array([places.count(i) for i in range(int(nbins))])


@api("histogram_fixed_width")
@tensor_function
def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100, dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
):
    """Count numbers in bins of one width.

    Args:
      values: a tensor of int32, int64, float32 or float64, of any shape.
      value_range: where the first bin begins and the last ends, `[2]`; numbers outside count in the first and the
        last bin.
      nbins: how many bins there are, a scalar integer.
      dtype: the dtype of the counts, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      The counts, a vector `[nbins]` of `dtype`.

    Raises:
      InvalidArgumentError: for a range that is empty or reversed, no bins, and NaN.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([2, 1, 1, 0, 2], dtype=int32)>
    """
    values = convert_to_tensor(values)
    value_range = convert_to_tensor(value_range, dtype=values.dtype)
    return HistogramFixedWidth(values, value_range, nbins, dtypes.as_dtype(dtype))


@api("histogram_fixed_width_bins")
@tensor_function
def histogram_fixed_width_bins(
    values: TensorLike, value_range, nbins: int = 100, dtype: DTypeLike = dtypes.int32, name: str | None = None
):
    """Find the bin of each number, among bins of one width.

    Args:
      values: a numeric tensor.
      value_range: where the first bin begins and the last ends, `[2]`; numbers outside are in the first and the
        last bin.
      nbins: how many bins there are, a scalar integer.
      dtype: the dtype of the result.
      name: a name for the operation (optional).

    Returns:
      Numbers of bins in [0, nbins), of `dtype` and of the shape of `values`.

    Raises:
      InvalidArgumentError: for a range that is empty or reversed, and no bins.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    <tf.Tensor: shape=(6,), dtype=int32, numpy=array([0, 0, 1, 2, 4, 4], dtype=int32)>
    """
    values = casting.cast(convert_to_tensor(values), dtypes.float64)
    value_range = casting.cast(convert_to_tensor(value_range), dtypes.float64)

    bounds = static_value(value_range)
    if bounds is not None:
        _range_of(bounds[:2].reshape(-1), nbins)
    low, high = value_range[0], value_range[1]
    share = arithmetic.RealDiv(arithmetic.Sub(values, low), arithmetic.Sub(high, low))
    bins = casting.cast(nbins, dtypes.float64)
    place = Floor(arithmetic.Mul(share, bins))
    place = arithmetic.Minimum(arithmetic.Maximum(place, 0), arithmetic.Sub(bins, 1))
    return casting.cast(place, dtype)


@op(
    "Bucketize",
    "input: T -> output: int32",
    types={"T": WEIGHTS},
    attrs={"boundaries": floats},
    shape=shapes.elementwise,
)
def Bucketize(xp: ModuleType, input: Array, boundaries: Sequence[float]):
    bounds = np.asarray(boundaries, np.float64)
    if (np.diff(bounds) < 0).any():
        raise invalid("Expected sorted boundaries")
    return xp.searchsorted(bounds, input, side="right").astype(np.int32)


Bucketize.gradient(None)


@Bucketize.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([[-5.0, 10000.0], [150.0, 10.0]]), boundaries=[0.0, 10.0, 100.0])
    yield Sample(rng.normal(0), boundaries=[0.0])
    yield Sample(rng.normal(2), boundaries=[1.0, 0.0], raises=InvalidArgumentError)


Bucketize.reference(
    lambda input, boundaries: np.array(
        [bisect.bisect_right(boundaries, v) for v in input.ravel().tolist()], np.int32
    ).reshape(input.shape)
)


@api(v2="math.confusion_matrix")
@tensor_function
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: TensorLike | None = None, weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32, name: str | None = None,
):
    """Count how often each class was predicted as each other class.

    Args:
      labels: the true classes, a vector of integers that are not negative.
      predictions: the predicted classes, of the shape of `labels`.
      num_classes: how many classes there are; None: one more than the largest number in the two.
      weights: what each prediction counts, of the shape of `labels` (optional).
      dtype: the dtype of the counts.
      name: a name for the operation (optional).

    Returns:
      A matrix `[num_classes, num_classes]` of `dtype`: rows are the true classes, columns the predicted ones.

    Raises:
      InvalidArgumentError: for classes that are negative or not below `num_classes`.

    >>> tf.math.confusion_matrix([0, 1, 2, 2], [0, 2, 2, 1])
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 1]], dtype=int32)>
    """
    labels = casting.cast(labels, dtypes.int64)
    predictions = casting.cast(predictions, dtypes.int64)
    if labels.shape.rank != predictions.shape.rank or labels.shape.rank is None:
        labels, predictions = _squeezed(labels, predictions)

    _refuse_outside("labels", labels, num_classes)
    _refuse_outside("predictions", predictions, num_classes)
    if num_classes is None:
        top = arithmetic.Maximum(reduction.reduce_max(labels), reduction.reduce_max(predictions))
        count = arithmetic.AddV2(top, 1)
    else:
        count = casting.cast(num_classes, dtypes.int64)
    kind = dtypes.as_dtype(dtype)
    ones = casting.cast(comparison.Equal(labels, labels), kind)
    heavy = ones if weights is None else arithmetic.Mul(casting.cast(weights, kind), ones)
    return ScatterNd(stack([labels, predictions], -1), heavy, stack([count, count]))


def _squeezed(labels, predictions):
    if predictions.shape.rank is None or labels.shape.rank is None:
        difference = Rank(predictions) - Rank(labels)

        def squeezed(x, when):
            last = None if x.shape.rank is None else x.shape.as_list()[-1:]
            if last is not None and last != [1] and last != [None]:
                return x
            return cond(comparison.equal(difference, when), lambda: Squeeze(x, [-1]), lambda: x)

        return squeezed(labels, -1), squeezed(predictions, 1)
    difference = predictions.shape.rank - labels.shape.rank
    if difference == 1:
        return labels, Squeeze(predictions, [-1])
    return (Squeeze(labels, [-1]), predictions) if difference == -1 else (labels, predictions)


def _refuse_outside(name: str, x: Any, limit):
    values, limit = static_value(x), None if limit is None else static_value(limit)
    if values is None or not values.size:
        return
    if values.min() < 0:
        raise invalid(f"`{name}` contains negative values.  \nCondition x >= 0 did not hold: x is {values.min()}")
    if limit is not None and values.max() >= limit:
        raise invalid(f"`{name}` out of bound\nCondition x < y did not hold: x is {values.max()}, y is {limit}")


@api(v1=("math.confusion_matrix", "confusion_matrix"))
@tensor_function
def confusion_matrix_v1(
    labels: TensorLike, predictions: TensorLike, num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32, name: str | None = None, weights=None,
):
    """`confusion_matrix` as 1.x spells it."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype)
