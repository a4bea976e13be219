"""Normally distributed numbers within given limits."""

from __future__ import annotations

import functools
import math
from types import ModuleType

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InternalError
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import shape_tensor, sizes_of_shape
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.random.stateless import SEED_TYPES, from_seed, seeded
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid

_TYPES = (dtypes.float32, dtypes.float64, dtypes.float16)
_MOST_TRIES = 1000


class _Stream:
    """Groups of uniform or normal numbers, one group of a block's worth after the other."""

    def __init__(self, g: philox.Philox, kind: np.dtype) -> None:
        self.g, self.kind = g, kind
        self.width = 2 if kind == np.float64 else 4

    def uniforms(self, groups: int) -> np.ndarray:
        return philox.uniform(self.g, groups * self.width, self.kind).reshape(groups, self.width)

    def normals(self, groups: int) -> np.ndarray:
        return philox.normal(self.g, groups * self.width, self.kind).reshape(groups, self.width)

    def advance(self, groups: int) -> None:
        self.g = self.g.skip(groups)


def _fill(stream: _Stream, needed: int, propose, blocks: int, kind) -> np.ndarray:
    """`needed` accepted proposals in the order of the stream; what is left of the last group is thrown away.

    `propose(groups)` gives the proposals of so many groups and whether each is accepted; one group takes `blocks`.
    """
    out: list[np.ndarray] = []
    refused = 0
    while needed:
        groups = max(4, min(needed, 4096))
        values, good = propose(groups)
        ends = np.cumsum(good.sum(1))
        used = groups if ends[-1] < needed else int(np.searchsorted(ends, needed)) + 1
        found = values[:used][good[:used]][:needed]
        out.append(found)
        needed -= len(found)
        refused = 0 if len(found) else refused + good.size
        if refused > _MOST_TRIES:
            raise InternalError(
                None, None, "TruncatedNormal rejection sampler failed to accept a sample."
            )
        stream.advance(used * blocks)
    return np.concatenate(out) if out else np.zeros(0, kind)


def _samples(stream: _Stream, count: int, mean, stddev, low, high) -> np.ndarray:
    """`count` numbers for one set of parameters, scalars of one NumPy dtype."""
    kind = stream.kind.type
    finite = np.isfinite(low) or np.isfinite(high)
    if not (stddev > 0 and low < high and finite):
        raise invalid(
            f"Invalid parameters: stddev = {stddev}, minval = {low}, maxval = {high}"
        )
    if low == -np.inf or high < mean:  # turned around, so that the lower limit is the tighter one
        low, high, stddev = high, low, -stddev
    a, b = (low - mean) / stddev, (high - mean) / stddev
    root = np.sqrt(a * a + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + a * (a - root) / kind(4)) / (a + root)

    def by_normals(groups):
        z = stream.normals(groups)
        return z, (z >= a) & (z <= b)

    def by_uniforms(groups):
        u = stream.uniforms(2 * groups).reshape(groups, 2, -1)
        z = u[:, 0] * (b - a) + a
        plus = kind(0) if a < 0 else a * a
        return z, u[:, 1] <= np.exp((plus - z * z) / kind(2))

    def by_exponentials(groups):
        u = stream.uniforms(groups)
        alpha = (a + root) / kind(2)
        z = -np.log(u[:, 0::2]) / alpha + a
        x = alpha - z if a < alpha else np.full_like(z, a - alpha)
        return z, (u[:, 1::2] <= np.exp(-x * x / kind(2))) & (z < b)

    far = kind(1.3)  # where TensorFlow prefers normal proposals
    with np.errstate(all="ignore"):
        if (a < -far and b >= 0) or (b > far and a <= 0):
            z = _fill(stream, count, by_normals, 1, kind)
        elif b - a < cutoff:
            z = _fill(stream, count, by_uniforms, 2, kind)
        else:
            z = _fill(stream, count, by_exponentials, 1, kind)
    return z * stddev + mean


def _rule(call):
    known = [s for s in map(call.shape, range(2, 6)) if s is not None]
    functools.reduce(shapes.broadcast, known, ())
    return [shapes.from_value(call, 0)]


@op(
    "StatelessParameterizedTruncatedNormal",
    "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    types={"S": INDEX, "Tseed": Preferring(SEED_TYPES), "dtype": _TYPES},
    shape=seeded(_rule),
)
def StatelessParameterizedTruncatedNormal(
    xp: ModuleType, shape: Array, seed: np.ndarray, means: np.ndarray, stddevs: Array, minvals: Array,
    maxvals: Array,
):
    sizes = sizes_of_shape(shape)
    stream = _Stream(from_seed(seed), means.dtype)
    parameters = (means, stddevs, minvals, maxvals)
    try:
        own = np.broadcast_shapes(*(p.shape for p in parameters))
    except ValueError:
        raise invalid(
            "means, stddevs, minvals, maxvals must have compatible batch dimensions: "
            f"{', '.join(str(p.shape) for p in parameters)}"
        ) from None
    if len(own) > len(sizes) or sizes[len(sizes) - len(own) :] != own:
        raise invalid("Shape passed in must end with broadcasted shape.")
    count = math.prod(sizes[: len(sizes) - len(own)])
    flat = [np.broadcast_to(p, own).reshape(-1) for p in parameters]
    out = np.empty((count, flat[0].size), means.dtype)
    if count:
        for i, one in enumerate(zip(*flat, strict=True)):
            out[:, i] = _samples(stream, count, *one)
    return out.reshape(sizes)


StatelessParameterizedTruncatedNormal.gradient(None)
StatelessParameterizedTruncatedNormal.compiled(never="it draws each number by rejection, one by one")


@StatelessParameterizedTruncatedNormal.samples
def _(rng):
    for low, high in ((-1.0, 3.0), (0.5, 0.7), (2.0, np.inf), (-np.inf, -3.0)):
        limits = np.float32([low, high])
        yield Sample([50, 2], [1, 2], np.float32([0, 0.1]), np.float32(1), *limits)
    for low, high, deviation in ((1.0, 0.0, 1.0), (0.0, 1.0, -1.0), (-np.inf, np.inf, 1.0)):
        bad = np.float32([0, deviation, low, high])
        yield Sample([2], [1, 2], *bad, raises=InvalidArgumentError)
    good = np.float32([1, 0, 1])
    yield Sample([2], [1, 2], np.zeros(3, np.float32), *good, raises=InvalidArgumentError)
    yield Sample([2], [1, 2, 3], np.float32(0), *good, raises=InvalidArgumentError)


@api("random.stateless_parameterized_truncated_normal")
@public
def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Draw normally distributed numbers of an interval, that depend on a seed alone.

    Args:
      shape: the shape of the result, which ends in the broadcast shape of the parameters.
      seed: two integers.
      means, stddevs: those of the distribution before it is cut, of float16, float32 or float64.
      minvals, maxvals: the ends of the interval.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the parameters and of shape `shape`.

    Raises:
      InvalidArgumentError: for ends that are not in order or both infinite, and for deviations that are not
        positive.
    """
    return StatelessParameterizedTruncatedNormal(
        shape_tensor(shape), seed, *(convert_to_tensor(p) for p in (means, stddevs, minvals, maxvals))
    )

def parameterized_truncated_normal(
    shape: ShapeLike, means: float = 0.0, stddevs: float = 1.0, minvals=-2.0, maxvals: float = 2.0,
    dtype: DTypeLike = dtypes.float32, seed: int | None = None, name: str | None = None,
):
    """Normal numbers of [minvals, maxvals]: see `stateless_parameterized_truncated_normal`; `seed` is one of an op."""
    drawn = uniform([2], maxval=2**31 - 1, dtype=dtypes.int32, seed=seed)
    parameters = (convert_to_tensor(p, dtype) for p in (means, stddevs, minvals, maxvals))
    return StatelessParameterizedTruncatedNormal(shape_tensor(shape), drawn, *parameters)
