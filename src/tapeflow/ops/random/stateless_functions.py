"""Random numbers of a given seed."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, IntLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, public
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.random.distributions import FLOATS, between, checked_dtype, scaled, shape_tensor
from tapeflow.ops.random.stateless import (
    FULL_INTEGERS,
    StatelessRandomNormalV2,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessTruncatedNormalV2,
    state_of,
)
from tapeflow.ops.table import INDEX


@api("random.stateless_uniform")
@public
@graph_scope("stateless_random_uniform")
def stateless_uniform(
    shape: ShapeLike, seed: TensorLike, minval: Any = 0, maxval: float | Tensor | None = None, dtype=dtypes.float32,
    name: str | None = None, alg: str = "auto_select",
):
    """Draw uniformly distributed numbers of [minval, maxval) that depend on a seed alone.

    Args:
      shape: the shape of the result, a vector of integers.
      seed: two integers: the same ones always give the same numbers.
      minval: the least number, which broadcasts to the shape; for integers None, with `maxval` None, means the
        whole range.
      maxval: the limit, which is not drawn; None: 1 for floating dtypes.
      dtype: float16, bfloat16, float32, float64, int32 or int64; uint32 and uint64 in the whole range only.
      name: a name for the operation (optional).
      alg: the algorithm: "philox", "threefry" or "auto_select".

    Returns:
      A tensor of `dtype` and of shape `shape`.

    Raises:
      ValueError: for other dtypes, and for integers with just one limit.
      InvalidArgumentError: for a bad shape, seed or range.

    >>> tf.random.stateless_uniform([3], seed=[1, 2], maxval=10, dtype=tf.int32)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 9, 4], dtype=int32)>
    """
    dtype = checked_dtype(dtype, (*FLOATS, *FULL_INTEGERS))
    shape = shape_tensor(shape)
    if not dtype.is_integer:
        maxval = 1 if maxval is None else maxval
        return between(
            minval,
            maxval,
            dtype,
            lambda: StatelessRandomUniformV2(shape, *state_of(seed, alg), dtype),
        )
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both None or not None. "
            f"Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is None:
        return StatelessRandomUniformFullIntV2(shape, *state_of(seed, alg), dtype)
    if dtype not in INDEX:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. Please don't use "
            "unsigned integers in this case."
        )
    minval, maxval = convert_to_tensor(minval, dtype=dtype), convert_to_tensor(maxval, dtype=dtype)
    return StatelessRandomUniformIntV2(shape, *state_of(seed, alg), minval, maxval)


@api("random.stateless_normal")
@public
@graph_scope("stateless_random_normal")
def stateless_normal(
    shape: ShapeLike, seed: TensorLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32, name: str | None = None, alg: str = "auto_select",
):
    """Draw normally distributed numbers that depend on a seed alone.

    Args:
      shape: the shape of the result, a vector of integers.
      seed: two integers: the same ones always give the same numbers.
      mean: the mean, which broadcasts to the shape.
      stddev: the standard deviation, which broadcasts to the shape.
      dtype: float16, bfloat16, float32 or float64.
      name: a name for the operation (optional).
      alg: the algorithm: "philox", "threefry" or "auto_select".

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.random.stateless_normal([2], seed=[1, 2]).numpy().round(4)
    array([0.5441, 0.2074], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    return scaled(
        StatelessRandomNormalV2(shape_tensor(shape), *state_of(seed, alg), dtype),
        stddev,
        mean,
        dtype,
    )


@api("random.stateless_truncated_normal")
@public
@graph_scope("stateless_truncated_normal")
def stateless_truncated_normal(
    shape: ShapeLike, seed: TensorLike, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None, alg: str = "auto_select",
):
    """Draw normally distributed numbers within two standard deviations, that depend on a seed alone.

    Args:
      shape: the shape of the result, a vector of integers.
      seed: two integers: the same ones always give the same numbers.
      mean: the mean, which broadcasts to the shape.
      stddev: the standard deviation, which broadcasts to the shape.
      dtype: float16, bfloat16, float32 or float64.
      name: a name for the operation (optional).
      alg: the algorithm: "philox", "threefry" or "auto_select".

    Returns:
      A tensor of `dtype` and of shape `shape`.
    """
    dtype = dtypes.as_dtype(dtype)
    return scaled(
        StatelessTruncatedNormalV2(shape_tensor(shape), *state_of(seed, alg), dtype),
        stddev,
        mean,
        dtype,
    )


@api("random.experimental.stateless_split", "random.split")
@public
def split(seed: IntLike, num: IntLike = 2, alg: str = "auto_select"):
    """Make several new seeds of one.

    Args:
      seed: two integers.
      num: how many seeds to make.
      alg: the algorithm: "philox", "threefry" or "auto_select".

    Returns:
      A matrix `[num, 2]` of the dtype of `seed`.

    >>> tf.random.experimental.stateless_split([1, 2], num=3).shape
    TensorShape([3, 2])
    """
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


@api("random.experimental.stateless_fold_in", "random.fold_in")
@public
def fold_in(seed: int, data: TensorLike, alg: str = "auto_select"):
    """Make a new seed of a seed and a number.

    Args:
      seed: two integers.
      data: an int32 or int64 scalar, such as the number of a step.
      alg: the algorithm: "philox", "threefry" or "auto_select".

    Returns:
      A vector of two integers of the dtype of `data`.

    >>> tf.random.experimental.stateless_fold_in([1, 2], 3).shape
    TensorShape([2])
    """
    data = convert_to_tensor(data)
    return stack([stateless_uniform([], seed, None, None, data.dtype, alg=alg), data])
