"""Stateless random ops that choose or reject: shuffle, categorical, gamma, Poisson."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, public
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import BroadcastTo, broadcast_dynamic_shape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import (
    GAMMA_FLOATS,
    POISSON_TYPES,
    above_zero,
    checked_categorical,
    checked_dtype,
    poisson_numbers,
    rows_by,
    shape_tensor,
    sizes_of_shape,
)
from tapeflow.ops.random.stateless import SEED_TYPES, STATE, from_key, from_seed, seeded, state_of
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import ANY, INDEX, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op(
    "StatelessShuffle",
    f"value: T, {STATE} -> output: T",
    types={"T": ANY},
    shape=shapes.same_as_first,
)
def StatelessShuffle(xp: ModuleType, value: Array, key: Sequence[int], counter, alg):
    g = from_key(key, counter, alg)
    return value[philox.permutation(g, value.shape[0])] if value.ndim else value


StatelessShuffle.compiled(static="alg")


@api("random.experimental.stateless_shuffle")
@public
@graph_scope("stateless_shuffle")
def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: str = "auto_select", name: str | None = None
) -> Tensor:
    """Shuffle a tensor along its first dimension, in an order that depends on a seed alone.

    Args:
      value: a tensor of any dtype.
      seed: two integers.
      alg: the algorithm: "philox", "threefry" or "auto_select".
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `value`.
    """
    return StatelessShuffle(convert_to_tensor(value), *state_of(seed, alg))


@op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    types={"T": REAL, "Tseed": Preferring(SEED_TYPES)},
    attrs={"output_dtype": dtype(dtypes.int64)},
    shape=seeded(rows_by, 2),
)
def StatelessMultinomial(
    xp: ModuleType, logits: np.ndarray, num_samples: Array, seed: np.ndarray, output_dtype: DType
):
    samples = checked_categorical(logits, num_samples)
    return philox.categorical(from_seed(seed), logits, samples).astype(output_dtype.as_numpy_dtype)


StatelessMultinomial.gradient(None)


@StatelessMultinomial.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), 7, [1, 2])
    yield Sample(rng.normal(0, 3), 7, [1, 2])
    yield Sample(rng.normal(3), 7, [1, 2], raises=InvalidArgumentError)


@api("random.stateless_categorical")
@public
@graph_scope("stateless_categorical")
def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Draw classes by their log-probabilities, as a seed alone says.

    Args:
      logits: log-probabilities, which need not be normalised, a floating matrix `[batch, classes]`.
      num_samples: how many classes to draw for each row.
      seed: two integers.
      dtype: int32 or int64.
      name: a name for the operation (optional).

    Returns:
      A matrix `[batch, num_samples]` of numbers of classes.
    """
    return StatelessMultinomial(
        logits, num_samples, seed, checked_dtype(dtype, (dtypes.int32, dtypes.int64))
    )


@api(v1="random.stateless_multinomial")
@public
@graph_scope("stateless_multinomial")
def stateless_multinomial(
    logits: TensorLike, num_samples, seed: TensorLike, output_dtype: DTypeLike = dtypes.int64, name: str | None = None
):
    """`stateless_categorical` under its 1.x name.

    Args:
      logits: log-probabilities `[batch, classes]`.
      num_samples: how many numbers are drawn for each row.
      seed: two integers.
      output_dtype: tf.int32 or tf.int64.
      name: a name for the operation (optional).
    """
    return stateless_categorical(logits, num_samples, seed, output_dtype)


def _samples_each(shape: ShapeLike, parameter) -> tuple[int, tuple[int, ...]]:
    """How many samples of each element of the parameter a result of this shape takes, and the shape."""
    sizes = sizes_of_shape(shape)
    own = parameter.shape
    if len(own) > len(sizes) or sizes[len(sizes) - len(own) :] != own:
        raise invalid(
            f"Shape passed in must end with broadcasted shape. Got {shape_text(sizes)} and {shape_text(own)}"
        )
    return math.prod(sizes[: len(sizes) - len(own)]), sizes


@op(
    "StatelessRandomGammaV2",
    "shape: T, seed: Tseed, alpha: dtype -> output: dtype",
    types={"T": INDEX, "Tseed": Preferring(SEED_TYPES), "dtype": GAMMA_FLOATS},
    shape=seeded(shapes.given(0)),
)
def StatelessRandomGammaV2(xp: ModuleType, shape: Array, seed: np.ndarray, alpha: np.ndarray):
    g = from_seed(seed)
    samples, sizes = _samples_each(shape, alpha)
    return (
        philox.by_rejection(g, alpha, samples, philox.gamma_draw).reshape(sizes).astype(alpha.dtype)
    )


@op(
    "StatelessRandomGammaV3",
    "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype",
    types={"shape_dtype": INDEX, "dtype": GAMMA_FLOATS},
    ranks="shape: 1, key: 1, counter: 1, alg: 0",
    shape=shapes.given(0),
)
def StatelessRandomGammaV3(
    xp: ModuleType, shape: Array, key: Array, counter: Array, alg: Array, alpha: np.ndarray
):
    g = from_key(key, counter, alg)
    samples, sizes = _samples_each(shape, alpha)
    return (
        philox.by_rejection(g, alpha, samples, philox.gamma_draw).reshape(sizes).astype(alpha.dtype)
    )


StatelessRandomGammaV3.compiled(never="it draws each number by rejection, one by one")
StatelessRandomGammaV3.gradient(None)


@StatelessRandomGammaV3.samples
def _(rng: SampleGenerator):
    state = np.array([1], np.uint64), np.array([0, 2], np.uint64), 1
    yield Sample([4, 3], *state, np.array([0.5, 1.0, 3.0], np.float32))
    yield Sample([2], *state, np.array([0.5, 1.0, 3.0], np.float32), raises=InvalidArgumentError)


StatelessRandomGammaV2.compiled(never="it draws each number by rejection, one by one")


@StatelessRandomGammaV2.samples
def _(rng: SampleGenerator):
    yield Sample([4, 3], [1, 2], np.array([0.5, 1.0, 3.0], np.float32))
    yield Sample([2], [1, 2], np.array([0.5, 1.0, 3.0], np.float32), raises=InvalidArgumentError)


@api("random.stateless_gamma")
@public
@graph_scope("stateless_random_gamma")
def stateless_gamma(
    shape: ShapeLike, seed: TensorLike, alpha: TensorLike, beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
):
    """Draw gamma distributed numbers that depend on a seed alone.

    Args:
      shape: the shape of the result, which ends in the broadcast shape of the parameters.
      seed: two integers.
      alpha: the shape parameter, a tensor of positive numbers.
      beta: the rate (the inverse of the scale); None: 1.
      dtype: float16, float32 or float64.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.
    """
    dtype = dtypes.as_dtype(dtype)
    alpha = convert_to_tensor(alpha, dtype=dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype=dtype)
    if beta.shape.rank:
        alpha = BroadcastTo(alpha, broadcast_dynamic_shape(Shape(alpha), Shape(beta)))
    return above_zero(StatelessRandomGammaV2(shape_tensor(shape), seed, alpha) / beta, dtype)


@op(
    "StatelessRandomPoisson",
    "shape: T, seed: Tseed, lam: Rtype -> output: dtype",
    types={"T": INDEX, "Tseed": Preferring(SEED_TYPES), "Rtype": POISSON_TYPES},
    attrs={"dtype": dtype},
    shape=shapes.given(0),
)
def StatelessRandomPoisson(xp: ModuleType, shape: Array, seed: np.ndarray, lam: Array, dtype: DType):
    g = from_seed(seed)
    samples, sizes = _samples_each(shape, lam)
    return poisson_numbers(g, lam, samples, dtype).reshape(sizes)


StatelessRandomPoisson.gradient(None)
StatelessRandomPoisson.compiled(never="it draws each number by rejection, one by one")


@api("random.stateless_poisson")
@public
@graph_scope("stateless_random_poisson")
def stateless_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = dtypes.int32, name: str | None = None
):
    """Draw Poisson distributed numbers that depend on a seed alone.

    Args:
      shape: the shape of the result, which ends in that of `lam`.
      seed: two integers.
      lam: the rates, a tensor of numbers that are not negative.
      dtype: the dtype of the numbers.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `shape`.
    """
    if not hasattr(lam, "dtype"):
        lam = convert_to_tensor(lam, dtype_hint=dtypes.float32)
    return StatelessRandomPoisson(shape_tensor(shape), seed, lam, dtype)
