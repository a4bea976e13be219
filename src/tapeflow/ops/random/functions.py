"""The random numbers, shuffles and crops that programs call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, public, tensor_function
from tapeflow.ops.array.broadcasting import BroadcastTo, broadcast_dynamic_shape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.random.distributions import (
    FLOATS,
    Multinomial,
    RandomGamma,
    RandomPoissonV2,
    RandomShuffle,
    RandomStandardNormal,
    RandomUniform,
    RandomUniformInt,
    TruncatedNormal,
    above_zero,
    between,
    checked_dtype,
    scaled,
    shape_tensor,
)
from tapeflow.ops.random.seed import seeds
from tapeflow.ops.static import static_value


@api("random.uniform", v1="random_uniform")
@tensor_function
@graph_scope("random_uniform")
def uniform(
    shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike | None = None, dtype=dtypes.float32,
    seed: int | None = None, name: str | None = None,
):
    """Draw uniformly distributed numbers of [minval, maxval).

    Args:
      shape: the shape of the result, a vector of integers.
      minval: the least number, which broadcasts to the shape.
      maxval: the limit, which is not drawn; None: 1 for floating dtypes; integers need one.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.

    Raises:
      ValueError: for other dtypes, and for integers without `maxval`.
      InvalidArgumentError: for negative sizes, and for integers with `minval >= maxval`.

    >>> tf.random.set_seed(5)
    >>> tf.random.uniform([3], maxval=10, dtype=tf.int32, seed=1)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([4, 1, 3], dtype=int32)>
    """
    dtype = checked_dtype(dtype, (*FLOATS, dtypes.int32, dtypes.int64))
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    shape = shape_tensor(shape)
    if dtype.is_integer:
        minval, maxval = (
            convert_to_tensor(minval, dtype=dtype),
            convert_to_tensor(maxval, dtype=dtype),
        )
        return RandomUniformInt(shape, minval, maxval, *seeds(seed))
    return between(minval, maxval, dtype, lambda: RandomUniform(shape, *seeds(seed), dtype))


@api("random.normal", v1="random_normal")
@tensor_function
@graph_scope("random_normal")
def normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = dtypes.float32,
    seed: int | None = None, name: str | None = None,
):
    """Draw normally distributed numbers.

    Args:
      shape: the shape of the result, a vector of integers.
      mean: the mean, which broadcasts to the shape.
      stddev: the standard deviation, which broadcasts to the shape.
      dtype: float16, bfloat16, float32 or float64.
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.random.set_seed(5)
    >>> tf.random.normal([2], seed=1).numpy().round(4)
    array([-1.3769, -0.0126], dtype=float32)
    """
    return _bell(RandomStandardNormal, shape, mean, stddev, dtype, seed)


@api("random.truncated_normal", v1="truncated_normal")
@tensor_function
@graph_scope("truncated_normal")
def truncated_normal(
    shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = dtypes.float32,
    seed: int | None = None, name: str | None = None,
):
    """Draw normally distributed numbers, none more than two standard deviations from the mean.

    Args:
      shape: the shape of the result, a vector of integers.
      mean: the mean, which broadcasts to the shape.
      stddev: the standard deviation before numbers further out are drawn again.
      dtype: float16, bfloat16, float32 or float64.
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.
    """
    return _bell(TruncatedNormal, shape, mean, stddev, dtype, seed)


def _bell(row: Callable[..., Any], shape: ShapeLike, mean, stddev, dtype: DTypeLike, seed: int | None):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in FLOATS:
        raise TypeError(f"Cannot convert {mean} to EagerTensor of dtype {dtype.name}")
    return scaled(row(shape_tensor(shape), *seeds(seed), dtype), stddev, mean, dtype)


@api("random.shuffle", v1="random_shuffle")
@tensor_function
def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None):
    """Shuffle a tensor along its first dimension.

    Args:
      value: a tensor of any dtype.
      seed: an integer that makes the order repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `value`.

    >>> tf.sort(tf.random.shuffle([1, 2, 3]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    value = convert_to_tensor(value)
    return RandomShuffle(value, *seeds(seed))


@api("random.categorical")
@public
@graph_scope("categorical")
def categorical(
    logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike | None = None, seed: int | None = None,
    name: str | None = None,
):
    """Draw classes by their log-probabilities.

    Args:
      logits: log-probabilities, which need not be normalised, a floating matrix `[batch, classes]`.
      num_samples: how many classes to draw for each row.
      dtype: int32 or int64 (the default).
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A matrix `[batch, num_samples]` of numbers of classes.

    Raises:
      InvalidArgumentError: for other shapes, and a negative `num_samples`.

    >>> tf.random.categorical([[0.0, -1e9]], 3)
    <tf.Tensor: shape=(1, 3), dtype=int64, numpy=array([[0, 0, 0]])>
    """
    dtype = checked_dtype(dtype, (dtypes.int32, dtypes.int64)) if dtype else dtypes.int64
    return Multinomial(logits, num_samples, *seeds(seed), dtype)


@api(v1=("random.multinomial", "multinomial"))
@tensor_function
@graph_scope("multinomial")
def multinomial(
    logits: TensorLike, num_samples, seed: int | None = None, name: str | None = None,
    output_dtype: DTypeLike | None = None,
):
    """Samples of class numbers; `tf.random.categorical` under its 1.x name."""
    return categorical(logits, num_samples, output_dtype, seed)


@api("random.gamma", v1="random_gamma")
@tensor_function
@graph_scope("random_gamma")
def gamma(
    shape: ShapeLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = dtypes.float32,
    seed: int | None = None, name: str | None = None,
):
    """Draw gamma distributed numbers.

    Args:
      shape: the shape of the sample for each pair of parameters, a vector of integers.
      alpha: the shape parameter, a tensor of positive numbers.
      beta: the rate (the inverse of the scale), which broadcasts with `alpha`; None: 1.
      dtype: float16, float32 or float64.
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `shape + broadcast shape of alpha and beta`. Differentiable in both.

    >>> tf.random.gamma([10], [0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    dtype = dtypes.as_dtype(dtype)
    alpha = convert_to_tensor(alpha, dtype=dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype=dtype)
    return above_zero(
        RandomGamma(shape_tensor(shape), _broadcast_alpha(alpha, beta), *seeds(seed)) / beta, dtype
    )


def _broadcast_alpha(alpha: Tensor, beta: Tensor):
    if beta.shape.rank == 0:
        return alpha
    return BroadcastTo(alpha, broadcast_dynamic_shape(Shape(alpha), Shape(beta)))


@api(v2="random.poisson")
@public
@graph_scope("random_poisson")
def poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = dtypes.float32, seed: int | None = None,
    name: str | None = None,
):
    """Draw Poisson distributed numbers.

    Args:
      shape: the shape of the sample for each rate, a vector of integers.
      lam: the rates, a tensor of numbers that are not negative.
      dtype: float16, float32, float64, int32 or int64.
      seed: an integer that makes the sample repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape + lam.shape`.

    >>> tf.random.poisson([4], [0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    if isinstance(lam, (int, float)):
        # As TensorFlow does, which keeps the streams of float64 and float32 rates apart.
        lam = convert_to_tensor(lam, dtype=dtypes.float64)
    return RandomPoissonV2(shape_tensor(shape), lam, *seeds(seed), dtype)


@api(v1=("random.poisson", "random_poisson"))
@tensor_function
@graph_scope("random_poisson")
def poisson_v1(
    lam: TensorLike, shape: ShapeLike, dtype: DTypeLike = dtypes.float32, seed: int | None = None,
    name: str | None = None,
):
    """Poisson distributed numbers, with the arguments in 1.x order."""
    return poisson(shape, lam, dtype, seed)


@api("image.random_crop", v1="random_crop")
@tensor_function
@graph_scope("random_crop")
def random_crop(value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None):
    """Take a part of a given shape at a random place.

    Args:
      value: a tensor of any dtype.
      size: the shape of the part, a vector of int32; the whole size of a dimension leaves it as it is.
      seed: an integer that makes the choice repeatable, together with `tf.random.set_seed` (optional).
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `value` and of shape `size`.

    Raises:
      InvalidArgumentError: where `size` is larger than `value` in some dimension.

    >>> tf.image.random_crop(tf.zeros([8, 8, 3]), [4, 4, 3]).shape
    TensorShape([4, 4, 3])
    """
    value = convert_to_tensor(value)
    size = convert_to_tensor(size, dtype=dtypes.int32)
    shape = Shape(value)
    known, wanted = static_value(shape), static_value(size)
    if known is not None and wanted is not None and not (wanted <= known).all():
        raise InvalidArgumentError(
            None, None, f"Need value.shape >= size, got {known} and {wanted}"
        )
    limit = shape - size + 1
    offset = uniform(Shape(shape), 0, dtypes.int32.max, dtypes.int32, seed) % limit
    return Slice(value, offset, size)
