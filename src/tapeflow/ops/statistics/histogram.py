"""Counts of values: bincount, histograms, buckets, confusion matrices."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math import arithmetic, casting, division
from tapeflow.ops.math.rounding import Floor
from tapeflow.ops.signature import dtype, floats
from tapeflow.ops.static import static_value
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

from tapeflow.ops.statistics.bincount import WEIGHTS, checked_size


def _bin_of(values: np.ndarray, low: float, high: float, bins: int):
    place = values.astype(np.float64)
    place -= low
    place /= high - low
    place *= bins
    return np.clip(place, 0, bins - 1, out=place).astype(np.int64)


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
    bins, limits = checked_size(nbins), value_range.astype(np.float64)
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
    return HistogramFixedWidth(values, value_range, nbins, dtype)


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
    share = division.RealDiv(arithmetic.Sub(values, low), arithmetic.Sub(high, low))
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
