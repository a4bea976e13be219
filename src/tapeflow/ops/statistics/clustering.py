"""Points that a clustering begins with: k-means++ and a chain of k-MC². They draw the numbers that TensorFlow draws."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.random.philox import Philox, Words
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall


def _words(seed: int) -> Words:
    return Words(Philox(seed & (1 << 64) - 1, 0, 0))


# Each retry costs a pass over all points; more would run for hours.
_MOST_RETRIES = 4096


class _Draws:
    """Points that are drawn one after the other, each in proportion to its distance from those before."""

    def __init__(self, points: np.ndarray, seed: int):
        self._points, self._words = points, _words(seed)
        self._norms = np.float32(0.5) * (points * points).sum(1, dtype=np.float32)
        self._nearest = np.full(len(points), np.inf, np.float32)
        self._sums = self._nearest
        self.chosen: list[int] = []

    def _draw(self) -> int:
        count = len(self._points)
        if not self.chosen:
            return self._words.below_wide(count)
        if not self._sums[-1] > 0:  # all that is left equals what is chosen
            return count - 1
        wanted = np.float32(self._words.unit_float()) * self._sums[-1]
        return min(int(np.searchsorted(self._sums, wanted, side="right")), count - 1)

    def _with(self, i: int) -> np.ndarray:
        """Half the squared distance of each point to the nearest that is chosen, `i` among them."""
        distances = self._norms - self._points @ self._points[i] + self._norms[i]
        return np.minimum(self._nearest, distances)

    def add(self, tries: int) -> None:
        """Chooses one more: the best of several."""
        drawn = [self._draw() for _ in range(tries)]
        nearest = [self._with(i) for i in drawn]
        best = int(np.argmin([each.sum() for each in nearest]))
        self._nearest = nearest[best]
        self._sums = np.cumsum(self._nearest, dtype=np.float32)
        self.chosen.append(drawn[best])


def _sampled_rule(call: ShapeCall):
    points = call.shape(0)
    shapes.require_ranks(call, 2, 0, 0, 0)
    count = shapes.scalar_value(call, 1)
    return [(count, None if points is None else points[1])]


@op("KmeansPlusPlusInitialization",
    "points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float32",
    shape=_sampled_rule)  # fmt: skip
def KmeansPlusPlusInitialization(
    xp: ModuleType, points: Array, num_to_sample: Array, seed: Array, num_retries_per_sample: Array
):
    """Below 0 retries means 2 and the logarithm of the count."""
    if points.ndim != 2:
        raise invalid("Input points should be a matrix.")
    for name, x in (
        ("num_to_sample", num_to_sample), ("seed", seed), ("num_retries_per_sample", num_retries_per_sample)
    ):  # fmt: skip
        if x.ndim:
            raise invalid(f"Input {name} should be a scalar.")
    count, retries = int(num_to_sample), int(num_retries_per_sample)
    if not len(points):
        raise invalid("Expected points.rows() > 0.")
    if count <= 0:
        raise invalid("Expected num_to_sample > 0.")
    if count > len(points):
        raise invalid(f"Expected num_to_sample <= points.rows(). {count} vs {len(points)}.")
    if retries > _MOST_RETRIES:
        raise invalid(f"Expected num_retries_per_sample <= {_MOST_RETRIES}, got {retries}.")
    if retries < 0:
        retries = 2 + int(math.log(count))
    draws = _Draws(np.asarray(points), int(seed))
    for _ in range(count):
        draws.add(1 + retries)
    return points[draws.chosen]


KmeansPlusPlusInitialization.gradient(None)
KmeansPlusPlusInitialization.compiled(never="it looks at values")


@KmeansPlusPlusInitialization.samples
def _(rng):
    points = np.float32([[100, 0], [101, 2], [102, 0], [-1, -1]])
    one, far = np.int64(1), points[[0, 0, 3, 3]]
    yield Sample(points[:1], one, np.int64(7), np.int64(0), expect=points[:1])
    yield Sample(far[1:], np.int64(3), one, np.int64(0), expect=far[[3, 1, 2]])
    yield Sample(points, np.int64(5), one, one, raises=InvalidArgumentError)
    yield Sample(points, np.int64(0), one, one, raises=InvalidArgumentError)
    yield Sample(points[0], one, one, one, raises=InvalidArgumentError)
    yield Sample(points, one, one, np.int64([1]), raises=InvalidArgumentError)


@op("KMC2ChainInitialization", "distances: float32, seed: int64 -> index: int64",
    shape=shapes.scalar)  # fmt: skip
def KMC2ChainInitialization(xp: ModuleType, distances: Array, seed: Array):
    """The last state of a Markov chain through all points, which prefers those that are far."""
    if distances.ndim != 1:
        raise invalid("Input distances should be a vector.")
    if seed.ndim:
        raise invalid("Input seed should be a scalar.")
    if not len(distances):
        raise invalid("Expected distances_tensor.size() > 0.")
    words, at = _words(int(seed)), 0
    values = np.asarray(distances).astype(np.float32)
    for i in range(1, len(values)):
        if values[i] > np.float32(words.unit_float()) * values[at]:
            at = i
    return np.int64(at)


KMC2ChainInitialization.gradient(None)
KMC2ChainInitialization.compiled(never="it looks at values")


@KMC2ChainInitialization.samples
def _(rng):
    seed = np.int64(3)
    yield Sample(np.float32([0, 0, 1e8, 0, 1e4, 0]), seed, expect=np.int64(2))
    yield Sample(np.float32([5]), seed, expect=np.int64(0))
    yield Sample(np.float32([]), seed, raises=InvalidArgumentError)
    yield Sample(np.float32([[5]]), seed, raises=InvalidArgumentError)
