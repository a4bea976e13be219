"""Binomially distributed numbers: how many of `count` trials succeed, each with probability `prob`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import shape_tensor, sizes_of_shape
from tapeflow.ops.random.stateful import advance
from tapeflow.ops.random.stateless import SEED_TYPES, from_seed, seeded
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

_TYPES = (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.int32, dtypes.int64)

_PORTION = 1 << 15  # numbers that are drawn at once

# What Stirling's approximation of log(k!) lacks, for k up to 9.
_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _tail(k: np.ndarray):
    square = (k + 1) * (k + 1)
    small = np.take(_TAILS, np.clip(k, 0, 9).astype(int))
    return np.where(k <= 9, small, (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1))


def _by_waiting(count: np.ndarray, prob: np.ndarray, g: philox.Philox, starts: np.ndarray):
    """For few successes: how many geometric waiting times fit into `count` trials."""
    waited, successes = np.zeros(len(count)), np.zeros(len(count))
    scale, left, block = np.log1p(-prob), np.arange(len(count)), 0
    while left.size:
        drawn = philox.double_pairs(g, starts[left] + np.uint64(block))
        for u in (0, 1):
            waited[left] += np.ceil(np.log(drawn[:, u]) / scale[left])
            fits = waited[left] <= count[left]
            left, drawn = left[fits], drawn[fits]
            successes[left] += 1
        block += 1
    return successes


def _by_rejection(count: np.ndarray, prob: np.ndarray, g: philox.Philox, starts: np.ndarray):
    """Hörmann, "The generation of binomial random variates", 1993: transformed rejection."""
    out, left, block = np.empty(len(count)), np.arange(len(count)), 0
    while left.size:
        drawn = philox.double_pairs(g, starts[left] + np.uint64(block))
        k, good = _try(count[left], prob[left], drawn[:, 0] - 0.5, drawn[:, 1])
        out[left[good]] = k[good]
        left = left[~good]
        block += 1
    return out


def _try(count: np.ndarray, prob: np.ndarray, u: np.ndarray, v: np.ndarray):
    """(k, whether to take it): one step of the rejection."""
    deviation = np.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    odds = prob / (1 - prob)
    alpha = (2.83 + 5.1 / b) * deviation
    m = np.floor((count + 1) * prob)
    us = 0.5 - np.abs(u)
    k = np.floor((2 * a / us + b) * u + (count * prob + 0.5))
    left = np.log(v * alpha / (a / (us * us) + b))
    right = (
        (m + 0.5) * np.log((m + 1) / (odds * (count - m + 1)))
        + (count + 1) * np.log((count - m + 1) / (count - k + 1))
        + (k + 0.5) * np.log(odds * (count - k + 1) / (k + 1))
        + _tail(m) + _tail(count - m) - _tail(k) - _tail(count - k)
    )  # fmt: skip
    surely = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
    return k, (us != 0) & (surely | (k >= 0) & (k <= count) & (left <= right))


def _draw(count: np.ndarray, prob: np.ndarray, g: philox.Philox, place: np.ndarray):
    """Numbers at these places of a result; `count` and `prob` are of one NumPy dtype."""
    p = np.where(prob > 0.5, 1 - prob, prob)
    real = (count > 0) & (prob > 0) & (prob < 1)
    if not np.isfinite(count[real]).all():
        raise invalid("counts must be finite")
    many, out = count * p >= 10, np.full(len(count), np.nan)
    count, p = count.astype(np.float64), p.astype(np.float64)
    for at, draw, stretch in ((real & many, _by_rejection, 256), (real & ~many, _by_waiting, 42)):
        out[at] = draw(count[at], p[at], g, place[at].astype(np.uint64) * np.uint64(stretch))
    out = np.where(prob > 0.5, count - out, out)
    out = np.where(prob >= 1, count, out)
    return np.where(~(count > 0) | (prob <= 0), 0, out)


def _layout(shape: ShapeLike, counts: Any, probs: Any):
    """The result's shape, how many numbers each pair of parameters makes, and the parameters, broadcast and flat."""
    sizes = sizes_of_shape(shape)
    try:
        own = np.broadcast_shapes(counts.shape, probs.shape)
    except ValueError:
        raise invalid(
            f"counts and probs must have compatible batch dimensions: {shape_text(counts.shape)} vs. "
            f"{shape_text(probs.shape)}"
        ) from None
    if len(own) > len(sizes) or sizes[len(sizes) - len(own) :] != own:
        raise invalid("Shape passed in must end with broadcasted shape.")
    flat = [np.broadcast_to(x, own).reshape(-1) for x in (counts, probs)]
    return sizes, math.prod(sizes[: len(sizes) - len(own)]), flat


def _numbers(g: philox.Philox, sizes: Sequence[int], samples: int, counts: Any, probs: Any, dtype: DType):
    # In the order in which they are drawn: all samples of a pair of parameters after each other.
    out = np.empty(counts.size * samples)
    with np.errstate(all="ignore"):
        for start in range(0, out.size, _PORTION):
            place = np.arange(start, min(start + _PORTION, out.size))
            out[place] = _draw(counts[place // samples], probs[place // samples], g, place)
    out = out.reshape(-1, samples).T if samples else out
    if dtype.is_integer:
        out = np.where(np.isnan(out), 0, out)
    return out.reshape(sizes).astype(dtype.as_numpy_dtype)


@op(
    "StatelessRandomBinomial",
    "shape: S, seed: Tseed, counts: T, probs: T -> output: dtype",
    types={"S": INDEX, "Tseed": Preferring(SEED_TYPES), "T": Preferring(_TYPES)},
    attrs={"dtype": dtype(dtypes.int64)},
    shape=seeded(shapes.given(0)),
)
def StatelessRandomBinomial(
    xp: ModuleType, shape: Array, seed: np.ndarray, counts: Array, probs: Array, dtype: DType
):
    g = from_seed(seed)
    sizes, samples, (counts, probs) = _layout(shape, counts, probs)
    return _numbers(g, sizes, samples, counts, probs, dtype)


StatelessRandomBinomial.gradient(None)
StatelessRandomBinomial.compiled(never="it draws each number by rejection, one by one")


@StatelessRandomBinomial.samples
def _(rng):
    yield Sample([3, 2], [1, 2], np.array([9.0, 40.0]), np.array([0.3, 0.5]))
    yield Sample([2, 3], [1, 2], np.float32(200), np.float32([0.2, 0.9, 1.0]), dtype=dtypes.int32)
    yield Sample([4], [1, 2], 5.0, 0.0, dtype=dtypes.float64)
    yield Sample([2, 2], [1, 2], np.ones(3), 0.5, raises=InvalidArgumentError)
    yield Sample([2, 2], [1, 2], np.ones(3), np.ones(2), raises=InvalidArgumentError)
    yield Sample([2, -2], [1, 2], 1.0, 0.5, raises=InvalidArgumentError)
    yield Sample([2], [1], 1.0, 0.5, raises=InvalidArgumentError)


@op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    types={"S": INDEX, "T": Preferring(_TYPES)},
    attrs={"dtype": dtype(dtypes.int64)},
    shape=shapes.given(2),
)
def StatefulRandomBinomial(
    xp: ModuleType, resource: Array, algorithm: Array, shape: Array, counts: Array, probs: Array, dtype: DType
):
    """Numbers from the state of a generator, which moves on."""
    sizes, samples, (counts, probs) = _layout(shape, counts, probs)
    g = advance(resource, algorithm, counts.size * 2 * 100 * (samples + 3) // 4)
    return _numbers(g, sizes, samples, counts, probs, dtype)


StatefulRandomBinomial.gradient(None)
StatefulRandomBinomial.compiled(never="it draws each number by rejection, one by one")


@api("random.stateless_binomial")
@public
def stateless_binomial(
    shape: ShapeLike, seed: TensorLike, counts: TensorLike, probs: TensorLike, output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
):
    """Draw binomially distributed numbers that depend on a seed alone.

    Args:
      shape: the shape of the result, which ends in the broadcast shape of the parameters.
      seed: two integers.
      counts: how many trials.
      probs: the probability of success of each.
      output_dtype: the dtype of the numbers.
      name: a name for the operation (optional).

    Returns:
      A tensor of `output_dtype` and of shape `shape`.

    Raises:
      InvalidArgumentError: for another shape or seed.
    """
    probs = convert_to_tensor(probs, dtype_hint=dtypes.float32)
    counts = convert_to_tensor(counts, dtype_hint=probs.dtype)
    return StatelessRandomBinomial(
        shape_tensor(shape), seed, counts, probs, output_dtype
    )
