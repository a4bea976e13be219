"""Random ops whose streams continue from call to call: uniform, normal, truncated normal, shuffle, categorical, ..."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, public, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.broadcasting import BroadcastTo, broadcast_dynamic_shape
from tapeflow.ops.array.construction import range as numbers
from tapeflow.ops.array.rows import Rank, Shape
from tapeflow.ops.array.slicing import Slice
from tapeflow.ops.math import reduction, special
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.random import philox
from tapeflow.ops.random.seed import seeds, set_random_seed, set_seed
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.static import static_value
from tapeflow.ops.table import ANY, INDEX, REAL, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

__all__ = [
    "categorical", "gamma", "multinomial", "normal", "poisson", "poisson_v1", "random_crop", "set_random_seed",
    "set_seed", "shape_tensor", "shuffle", "truncated_normal", "uniform",
]  # fmt: skip

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
GAMMA_FLOATS = (dtypes.float32, dtypes.float64, dtypes.float16)
POISSON_TYPES = (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.int32, dtypes.int64)
_SEEDS = {"seed": 0, "seed2": 0}


class _Streams(threading.local):
    """Where this thread's streams come from; `source` is set while calls are compiled."""

    source: Callable[..., philox.Philox] | None = None


streams = _Streams()


def reserve(name: str, a, b, seed: int, seed2: int, blocks: int) -> philox.Philox:
    """The stream of an op at its current position, which moves on; one registry serves the native kernels too."""
    numbers = [dtypes.as_dtype(d).as_datatype_enum if d is not None else 0 for d in (a, b)]
    if streams.source is not None:
        return streams.source(name, *numbers, seed, seed2, blocks)
    return philox.Philox(*_native.random_reserve(name, *numbers, seed, seed2, blocks))


def sizes_of_shape(shape) -> tuple[int, ...]:
    """The value of a kernel's shape input, checked."""
    if np.ndim(shape) != 1:
        raise invalid(
            f"shape must be a vector of {{int32,int64}}, got shape {shape_text(np.shape(shape))}"
        )
    return dimensions(shape, "shape")


def shape_tensor(shape: ShapeLike):
    """The shape argument of a random function (integers, a TensorShape, a list with tensors) as an input."""
    if isinstance(shape, (list, tuple)):
        if all(isinstance(d, int) for d in shape):
            return int_array(shape)
        return convert_to_tensor(shape, dtype_hint=dtypes.int32)
    if hasattr(shape, "as_list"):
        return int_array(shape.as_list())
    return shape if hasattr(shape, "dtype") else convert_to_tensor(shape)


def _filled(name: str, fill: Callable[..., Any]):
    def kernel(xp: ModuleType, shape, seed, seed2, dtype):
        sizes = sizes_of_shape(shape)
        count = math.prod(sizes)
        g = reserve(name, dtype, shape.dtype, seed, seed2, count * philox.STRETCH)
        return fill(g, count, np.dtype(dtype.as_numpy_dtype)).reshape(sizes)

    kernel.__name__ = name
    row = op(
        name,
        "shape: T -> output: dtype",
        types={"T": INDEX},
        attrs={**_SEEDS, "dtype": dtype},
        shape=shapes.given(0),
    )(kernel)
    row.gradient(None)
    row.batching(batching.random_shape)

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample([2, -1], dtype=dtypes.float32, raises=InvalidArgumentError)
        yield Sample([[2]], dtype=dtypes.float32, raises=InvalidArgumentError)
        yield Sample(np.array([2**40, 2**40]), dtype=dtypes.float32, raises=InvalidArgumentError)

    return row


RandomUniform = _filled("RandomUniform", philox.uniform)
RandomStandardNormal = _filled("RandomStandardNormal", philox.normal)
TruncatedNormal = _filled("TruncatedNormal", philox.truncated_normal)


def integer_limits(minval, maxval, count: int) -> tuple[int, int]:
    """(lowest, how many) of scalar limits that were checked."""
    for name, value in (("minval", minval), ("maxval", maxval)):
        if np.ndim(value):
            raise invalid(f"{name} must be 0-D, got shape {shape_text(np.shape(value))}")
    low, high = int(minval), int(maxval)
    if count and low >= high:
        raise invalid(f"Need minval < maxval, got {low} >= {high}")
    return low, high - low


@op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    types={"T": INDEX, "Tout": INDEX},
    attrs=_SEEDS,
    ranks="shape: 1, minval: 0, maxval: 0",
    shape=shapes.given(0),
)
def RandomUniformInt(xp: ModuleType, shape: Array, minval: Array, maxval: Array, seed: int, seed2: int):
    sizes = sizes_of_shape(shape)
    count = math.prod(sizes)
    low, span = integer_limits(minval, maxval, count)
    if not count:
        return np.zeros(sizes, minval.dtype)
    g = reserve("RandomUniformInt", minval.dtype, shape.dtype, seed, seed2, count * philox.STRETCH)
    return philox.integers(g, count, minval.dtype, low, span).reshape(sizes)


RandomUniformInt.batching(batching.random_shape)


RandomUniformInt.gradient(None)


RandomUniformInt.compiled(static="minval, maxval")


@RandomUniformInt.samples
def _(rng: SampleGenerator):
    yield Sample([2], 3, 3, raises=InvalidArgumentError)
    yield Sample([2], [1, 2], 3, raises=InvalidArgumentError)
    yield Sample([0], 3, 3, expect=np.zeros(0, np.int32))


@op(
    "RandomShuffle",
    "value: T -> output: T",
    types={"T": ANY},
    attrs=_SEEDS,
    shape=shapes.same_as_first,
)
def RandomShuffle(xp: ModuleType, value: Array, seed: int, seed2: int):
    if value.ndim == 0 or value.shape[0] <= 1 or value.size == 0:
        return value
    n = value.shape[0]
    g = reserve(
        "RandomShuffle",
        None if value.dtype == object else value.dtype,
        None,
        seed,
        seed2,
        (n + 2) // 4,
    )
    return value[philox.permutation(g, n)]


def rows_by(call: ShapeCall):
    """A row of samples for each row of logits."""
    return [(shapes.with_rank(call.shape(0), 2)[0], shapes.size_value(call, 1))]


@op(
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype",
    types={"T": REAL},
    attrs={**_SEEDS, "output_dtype": dtype(dtypes.int64)},
    shape=rows_by,
)
def Multinomial(xp: ModuleType, logits: np.ndarray, num_samples: Array, seed: int, seed2: int, output_dtype: DType):
    samples = checked_categorical(logits, num_samples)
    rows = logits.shape[0]
    g = reserve(
        "Multinomial",
        logits.dtype,
        output_dtype,
        seed,
        seed2,
        rows * (-(-samples // 4) * 8) * philox.STRETCH,
    )
    return philox.categorical(g, logits, samples).astype(output_dtype.as_numpy_dtype)


def checked_categorical(logits, num_samples) -> int:
    if logits.ndim != 2:
        raise invalid(f"logits should be a matrix, got shape {shape_text(logits.shape)}")
    if np.ndim(num_samples):
        raise invalid(
            f"num_samples should be a scalar, got shape {shape_text(np.shape(num_samples))}"
        )
    if num_samples < 0:
        raise invalid(f"num_samples should be non-negative, got {num_samples}")
    if logits.shape[1] == 0:
        raise invalid("num_classes should be positive, got 0")
    return int(num_samples)


Multinomial.gradient(None)


@Multinomial.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 0), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), -3, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), [3, 1], raises=InvalidArgumentError)


def _appended(call: ShapeCall):
    first, second = shapes.from_value(call, 0), call.shape(1)
    return [None if first is None or second is None else (*first, *second)]


@op(
    "RandomGamma",
    "shape: S, alpha: T -> output: T",
    types={"S": INDEX, "T": GAMMA_FLOATS},
    attrs=_SEEDS,
    shape=_appended,
)
def RandomGamma(xp: ModuleType, shape: Array, alpha: np.ndarray, seed: int, seed2: int):
    sizes = sizes_of_shape(shape)
    samples = math.prod(sizes)
    g = reserve(
        "RandomGamma", alpha.dtype, shape.dtype, seed, seed2, samples * alpha.size * philox.STRETCH
    )
    out = philox.by_rejection(g, alpha, samples, philox.gamma_draw)
    return out.reshape(*sizes, *alpha.shape).astype(alpha.dtype)


RandomGamma.compiled(never="it draws each number by rejection, one by one")


@RandomGamma.gradient(needs="alpha, output")
def _(call: GradientCall, dy: Tensor):
    """Samples move with alpha so that their probabilities P(alpha, y) stay what they are."""
    alpha, y = call.alpha, call.output
    drawn = numbers(Rank(y) - Rank(alpha))
    return None, reduction.Sum(dy * special.RandomGammaGrad(alpha, y), drawn)


@op(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    types={"S": INDEX, "R": Preferring(POISSON_TYPES)},
    attrs={**_SEEDS, "dtype": dtype(dtypes.int64)},
    shape=_appended,
)
def RandomPoissonV2(xp: ModuleType, shape: Array, rate: Array, seed: int, seed2: int, dtype: DType):
    sizes = sizes_of_shape(shape)
    samples = math.prod(sizes)
    g = reserve(
        "RandomPoissonV2", dtype, rate.dtype, seed, seed2, samples * rate.size * philox.STRETCH
    )
    return poisson_numbers(g, rate, samples, dtype).reshape(*sizes, *rate.shape)


_POISSON_FLOATS = tuple(t for t in POISSON_TYPES if t.is_floating)


@op("RandomPoisson", "shape: S, rate: dtype -> output: dtype", types={"S": INDEX, "dtype": _POISSON_FLOATS},
    attrs=_SEEDS, shape=_appended)  # fmt: skip
def RandomPoisson(xp: ModuleType, shape: Array, rate: Array, seed: int, seed2: int):
    """As the first versions of TensorFlow had it: the numbers are of the dtype of the rate."""
    return RandomPoissonV2.kernel(xp, shape, rate, seed, seed2, dtypes.as_dtype(rate.dtype))


RandomPoisson.gradient(None)
RandomPoisson.compiled(never="it draws each number by rejection, one by one")


@op("NonDeterministicInts", "shape: shape_dtype -> output: dtype",
    types={"shape_dtype": Preferring(INDEX[::-1])}, attrs={"dtype": dtype(dtypes.int64)},
    shape=shapes.given(0), stateful=True)  # fmt: skip
def NonDeterministicInts(xp: ModuleType, shape: Array, dtype: DType):
    """Integers of the system's source of random numbers."""
    if dtype not in (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
        raise invalid(f"NonDeterministicInts has no numbers of {dtype.name}")
    sizes = sizes_of_shape(shape)
    kind = np.dtype(dtype.as_numpy_dtype)
    return np.frombuffer(secrets.token_bytes(math.prod(sizes) * kind.itemsize), kind).reshape(sizes)


NonDeterministicInts.gradient(None)
NonDeterministicInts.compiled(never="its numbers are the system's")


def poisson_numbers(g, rate, samples: int, dtype):
    out = philox.by_rejection(g, rate, samples, philox.poisson_draw)
    if dtype.is_integer:
        out = np.where(np.isnan(out), 0, out)
    return out.astype(dtype.as_numpy_dtype)


RandomPoissonV2.gradient(None)
RandomPoissonV2.compiled(never="it draws each number by rejection, one by one")


def checked_dtype(given, accepted: Sequence[DType]):
    result = dtypes.as_dtype(given)
    if result not in accepted:
        raise ValueError(
            f"Argument `dtype` got invalid value {result!r}. Accepted dtypes are {_named(accepted)}."
        )
    return result


def _named(accepted) -> str:
    return "(" + ", ".join(f"tf.{d.name}" for d in accepted) + ")"


def scaled(x: Tensor, scale, shift, dtype: DTypeLike, unit: float = 1.0):
    """x * scale + shift, without the work where they are `unit` and 0."""
    if not (isinstance(scale, (int, float)) and scale == unit):
        x = x * convert_to_tensor(scale, dtype=dtype)
    if not (isinstance(shift, (int, float)) and shift == 0):
        x = x + convert_to_tensor(shift, dtype=dtype)
    return x


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


def between(minval: TensorLike, maxval: Any, dtype: DTypeLike, unit: Callable[..., Any]):
    """The numbers of [0, 1) that unit() makes, stretched to [minval, maxval)."""
    if isinstance(minval, int) and minval == 0:
        if isinstance(maxval, int) and maxval == 1:
            return unit()
        maxval = convert_to_tensor(maxval, dtype=dtype)
        return unit() * maxval
    minval, maxval = convert_to_tensor(minval, dtype=dtype), convert_to_tensor(maxval, dtype=dtype)
    return unit() * (maxval - minval) + minval


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


def above_zero(x: Tensor, dtype):
    """Underflow would give zeros, which a gamma variable never is."""
    return maximum(convert_to_tensor(np.finfo(dtype.as_numpy_dtype).tiny, dtype=dtype), x)


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
    return RandomPoissonV2(shape_tensor(shape), lam, *seeds(seed), dtypes.as_dtype(dtype))


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
