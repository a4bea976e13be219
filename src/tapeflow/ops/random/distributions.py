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
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array, ints
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.ranges import range as numbers
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.math import reduction
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.random import philox
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.special import incomplete
from tapeflow.ops.table import ANY, INDEX, REAL, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

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
        vector = ints(shape)
        return convert_to_tensor(shape, dtype_hint=dtypes.int32) if vector is None else vector
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
    return None, reduction.Sum(dy * incomplete.RandomGammaGrad(alpha, y), drawn)


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


def between(minval: TensorLike, maxval: Any, dtype: DTypeLike, unit: Callable[..., Any]):
    """The numbers of [0, 1) that unit() makes, stretched to [minval, maxval)."""
    if isinstance(minval, int) and minval == 0:
        if isinstance(maxval, int) and maxval == 1:
            return unit()
        maxval = convert_to_tensor(maxval, dtype=dtype)
        return unit() * maxval
    minval, maxval = convert_to_tensor(minval, dtype=dtype), convert_to_tensor(maxval, dtype=dtype)
    return unit() * (maxval - minval) + minval


def above_zero(x: Tensor, dtype):
    """Underflow would give zeros, which a gamma variable never is."""
    return maximum(convert_to_tensor(np.finfo(dtype.as_numpy_dtype).tiny, dtype=dtype), x)
