"""Points of Sobol's low-discrepancy sequence. SciPy computes them: its direction numbers are a table of 21,201 rows."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes, extras
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, one_value

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

MOST_DIMENSIONS = 21201  # those of Joe and Kuo's direction numbers


def _shape(call: ShapeCall):
    sizes = [call.value(1), call.value(0)]
    return [tuple(None if n is None else int(n) for n in sizes)]


@op(
    "SobolSample",
    "dim: int32, num_results: int32, skip: int32 -> samples: dtype",
    attrs={"dtype": dtype(dtypes.float32)},
    ranks="dim: 0, num_results: 0, skip: 0",
    shape=_shape,
)
def SobolSample(xp: ModuleType, dim: Array, num_results: Array, skip: Array, dtype: DType):
    count = one_value(num_results, "num_results must be a scalar")
    dimensions = one_value(dim, "dim must be a scalar")
    first = one_value(skip, "skip must be a scalar")
    if dimensions < 1:
        raise invalid("dim must be at least one")
    if dimensions > MOST_DIMENSIONS:
        raise invalid(f"dim = {dimensions} must be at most {MOST_DIMENSIONS}")
    if count < 1:
        raise invalid("num_results must be at least one")
    if first < 0:
        raise invalid("skip must be non-negative")
    if first + count >= 2**30:
        raise invalid(f"num_results + skip = {first + count} must be below 2^30")
    sequence = extras.load("scipy.stats.qmc", "Sobol's sequence").Sobol(dimensions, scramble=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the number of points is no power of two
        points = sequence.fast_forward(first + 1).random(count)
    return points.astype(dtype.as_numpy_dtype)


SobolSample.gradient(None)


SobolSample.compiled(static="skip")


@SobolSample.samples
def _(rng: SampleGenerator):
    yield Sample(1, 7, 0)
    yield Sample(1, 3, 4, dtype=dtypes.float64)
    yield Sample(0, 3, 0, raises=InvalidArgumentError)
    yield Sample(2, 0, 0, raises=InvalidArgumentError)
    yield Sample(2, 3, -1, raises=InvalidArgumentError)


@SobolSample.reference
def _(dim: np.ndarray, num_results: np.ndarray, skip: np.ndarray, dtype: DType):
    """In one dimension: the bits of the Gray code of n, mirrored at the point."""
    points = range(int(skip) + 1, int(skip) + 1 + int(num_results))
    mirrored = [int(f"{n ^ n >> 1:032b}"[::-1], 2) / 2**32 for n in points]
    return np.array(mirrored)[:, None]


@api("math.sobol_sample")
@tensor_function
def sobol_sample(
    dim: TensorLike,
    num_results: TensorLike,
    skip: TensorLike = 0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Make points of Sobol's sequence, which fills the unit cube evenly. It needs SciPy.

    Args:
      dim: how many coordinates a point has, a scalar int32.
      num_results: how many points, a scalar int32.
      skip: how many points of the sequence, after the origin, to leave out.
      dtype: float32 or float64.
      name: a name for the operation (optional).

    Returns:
      A matrix `[num_results, dim]` of numbers in [0, 1).

    Raises:
      InvalidArgumentError: for a `dim` or `num_results` below one.
    """
    return SobolSample(dim, num_results, skip, dtype)
