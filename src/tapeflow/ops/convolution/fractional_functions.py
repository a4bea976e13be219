"""The fractional poolings that programs call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops.convolution.fractional_pooling import FractionalAvgPool, FractionalMaxPool
from tapeflow.ops.random.seed import get_seed


def _four(ratio) -> list[float]:
    """One ratio, one for rows and one for columns, or all four."""
    values = [float(r) for r in (ratio if isinstance(ratio, (list, tuple, np.ndarray)) else [ratio])]
    if len(values) == 1:
        values = values * 2
    if len(values) == 2:
        values = [1.0, *values, 1.0]
    if len(values) != 4:
        raise ValueError(f"pooling_ratio should be of length 1, 2 or 4. Received: {len(values)}")
    return values


def _pool_v2(row, value, pooling_ratio, pseudo_random, overlapping: bool, seed: int):
    ratios = _four(pooling_ratio)
    if any(r < 1 for r in ratios):
        raise ValueError(f"`pooling_ratio` should be >= 1. Received: pooling_ratio={pooling_ratio}")
    if seed == 0:
        return row(value, ratios, pseudo_random, overlapping)
    first, second = get_seed(seed)
    return row(value, ratios, pseudo_random, overlapping, True, first or 0, second or 0)


@api(v2="nn.fractional_max_pool")
@tensor_function
def fractional_max_pool(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    seed: int = 0, name: str | None = None,
):
    """Take the largest elements of regions of images whose sizes vary at random (Graham, 2015).

    Args:
      value: a tensor `[batch, height, width, channels]` of float32, float64, int32 or int64.
      pooling_ratio: how much smaller the result is, at least 1: a number, or a list of one, two or four.
      pseudo_random: whether borders follow one pattern with a random start, and are not drawn one by one.
      overlapping: whether neighbouring regions share their border.
      seed: other than 0, the same regions are chosen in every call.
      name: a name for the operation (optional).

    Returns:
      (output, borders of rows, borders of columns); the borders are int64 vectors.

    Raises:
      ValueError: for another ratio.
    """
    return _pool_v2(FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, seed)


@api(v2="nn.fractional_avg_pool")
@tensor_function
def fractional_avg_pool(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    seed: int = 0, name: str | None = None,
):
    """Compute the means of regions of images whose sizes vary at random.

    Args:
      value: a tensor `[batch, height, width, channels]` of float32, float64, int32 or int64.
      pooling_ratio: how much smaller the result is, at least 1: a number, or a list of one, two or four.
      pseudo_random: whether borders follow one pattern with a random start, and are not drawn one by one.
      overlapping: whether neighbouring regions share their border.
      seed: other than 0, the same regions are chosen in every call.
      name: a name for the operation (optional).

    Returns:
      (output, borders of rows, borders of columns); the borders are int64 vectors.

    Raises:
      ValueError: for another ratio.
    """
    return _pool_v2(FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, seed)


@api(v1="nn.fractional_max_pool")
@tensor_function
def fractional_max_pool_v1(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    deterministic: bool = False, seed: int = 0, seed2=0, name: str | None = None,
):
    """`fractional_max_pool` of 1.x: four ratios, and both seeds."""
    ratios = [float(r) for r in pooling_ratio]
    return FractionalMaxPool(
        value, ratios, pseudo_random, overlapping, deterministic, int(seed), int(seed2)
    )


@api(v1="nn.fractional_avg_pool")
@tensor_function
def fractional_avg_pool_v1(
    value: TensorLike, pooling_ratio: Sequence[float], pseudo_random: bool = False, overlapping: bool = False,
    deterministic: bool = False, seed: int = 0, seed2=0, name: str | None = None,
):
    """`fractional_avg_pool` of 1.x: four ratios, and both seeds."""
    ratios = [float(r) for r in pooling_ratio]
    return FractionalAvgPool(
        value, ratios, pseudo_random, overlapping, deterministic, int(seed), int(seed2)
    )
