"""Sampled classes, for losses that look at some of many classes only: ops that draw them, by several laws."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import NotFoundError
from tapeflow.ops import shapes
from tapeflow.ops.folding import fold_at
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import reserve
from tapeflow.ops.random.seed import starts
from tapeflow.ops.signature import boolean, floats, integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, first_out_of_range, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_ATTRS = {"num_true": integer, "num_sampled": integer, "unique": boolean}
_SEEDS = {"seed": 0, "seed2": 0}
_SIGNATURE = (
    "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, "
    "sampled_expected_count: float32"
)
_WORDS_PER_SAMPLE = 2048


class _Law:
    """What classes are drawn by: `draw` one, and the probability of each."""

    def __init__(self, count: int) -> None:
        self.count = count

    def draw(self, words: philox.Words) -> int:
        return words.below_wide(self.count)

    def probability(self, value: int) -> float:
        return float(np.float32(1 / self.count))


class _LogUniform(_Law):
    """Nearly Zipf's law: classes are to be sorted, the most frequent first."""

    def draw(self, words: philox.Words) -> int:
        return (int(math.exp(words.unit_double() * math.log1p(self.count))) - 1) % self.count

    def probability(self, value: int) -> float:
        return float(np.float32(math.log((value + 2.0) / (value + 1.0)) / math.log1p(self.count)))


class _Learned(_Law):
    """Every class once, and as often as it was a true class in the calls before."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.lock = threading.Lock()
        self.weights = np.ones(count, np.int64)
        self.sums = np.cumsum(self.weights)

    def draw(self, words: philox.Words) -> int:
        return int(np.searchsorted(self.sums, words.below(int(self.sums[-1])), side="right"))

    def probability(self, value: int) -> float:
        return float(np.float32(self.weights[value] / self.sums[-1]))

    def learn(self, values: np.ndarray) -> None:
        room = 2**31 - 1 - int(self.sums[-1])
        values = values[: max(room, 0)]
        fold_at(np.add, self.weights, values, 1)
        self.sums = np.cumsum(self.weights)


class _Fixed(_Law):
    """By given weights, through Walker's alias table (Vose's way to fill it)."""

    def __init__(self, weights: list[float]) -> None:
        super().__init__(len(weights))
        self.weights = np.array(weights, np.float32)
        self.total = np.float32(0)
        for w in self.weights:
            self.total += w
        n = len(weights)
        total = float(self.weights.astype(np.float64).sum())
        share = [float(w) * n / total for w in self.weights]
        high = [i for i in range(n) if share[i] >= 1]
        low = [i for i in range(n) if share[i] < 1]
        self.other = list(range(n))
        while high and low:
            l, h = low.pop(), high.pop()
            self.other[l] = h
            share[h] -= 1.0 - share[l]
            (low if share[h] < 1.0 else high).append(h)
        for i in high + low:
            share[i] = 1.0
        self.share = np.array(share, np.float32).tolist()

    def draw(self, words: philox.Words) -> int:
        r = words.unit_float()
        at = words.below(self.count)
        return at if r < self.share[at] else self.other[at]

    def probability(self, value: int) -> float:
        return float(self.weights[value] / self.total)


def _expected(p: float, count: int, tries: int) -> float:
    """How often a class of probability `p` is expected among `count` samples that took so many tries."""
    if tries == count:
        return p * count
    return -math.expm1(tries * math.log1p(-p)) if p < 1 else 1.0


def _checked(true_classes: Any, num_true: int, num_sampled: int, count: int) -> None:
    if num_true < 1 or num_sampled < 1:
        raise invalid(f"num_true and num_sampled must be at least 1, got {num_true} and {num_sampled}")
    if count < 1:
        raise invalid(f"range_max must be at least 1, got {count}")
    if true_classes.ndim != 2:
        raise invalid("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise invalid(
            f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}"
        )
    bad = first_out_of_range(true_classes, count)
    if bad:
        raise invalid(f"`true_candidate` out of range [0, {count}), received {bad[1]}")


def _drawn(law: _Law, true_classes: Any, num_sampled: int, unique: bool, g: philox.Philox):
    """What an op returns: the samples, and the expected counts of the true and the sampled classes."""
    if unique and num_sampled > law.count:
        raise invalid("Sampler's range is too small.")
    words = philox.Words(g)
    if unique:
        picked: dict[int, None] = {}
        tries = 0
        while len(picked) < num_sampled:
            tries += 1
            picked.setdefault(law.draw(words))
        sampled = list(picked)
    else:
        sampled, tries = [law.draw(words) for _ in range(num_sampled)], num_sampled

    def counts(values):
        flat = [_expected(law.probability(v), num_sampled, tries) for v in np.ravel(values).tolist()]
        return np.array(flat, np.float32).reshape(np.shape(values))

    return np.array(sampled, np.int64), counts(true_classes), counts(sampled)


def _rule(call: ShapeCall):
    sampled, true = call.attr("num_sampled"), shapes.with_rank(call.shape(0), 2)
    return [(sampled,), (true[0], shapes.exactly(true[1], call.attr("num_true"))), (sampled,)]


def _stream(name: str, seed: int, seed2: int, num_sampled: int, *attrs) -> philox.Philox:
    """The stream of an op; each combination of its attrs has its own."""
    key = "/".join(str(x) for x in (name, num_sampled, *attrs))
    return reserve(key, None, None, seed, seed2, _WORDS_PER_SAMPLE // 4 * num_sampled)


def _row(name: str, law_of: Callable[..., _Law]):
    @op(name, _SIGNATURE, attrs={**_ATTRS, "range_max": integer, **_SEEDS}, shape=_rule)
    def row(
        xp: ModuleType, true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int,
        seed: int, seed2: int,
    ):
        _checked(true_classes, num_true, num_sampled, range_max)
        law = law_of(range_max, num_true, num_sampled, unique, seed, seed2)
        if unique and num_sampled > range_max:
            raise invalid("Sampler's range is too small.")
        g = _stream(name, seed, seed2, num_sampled, num_true, unique, range_max)
        if not isinstance(law, _Learned):
            return _drawn(law, true_classes, num_sampled, unique, g)
        with law.lock:
            out = _drawn(law, true_classes, num_sampled, unique, g)
            law.learn(true_classes.reshape(-1))
            return out

    row.gradient(None)
    row.compiled(never="it draws one number after the other")

    @row.samples
    def _(rng):
        # One class only: there is nothing to choose.
        one = (np.zeros(1, np.int64), np.ones((2, 1), np.float32), np.ones(1, np.float32))
        yield Sample([[0], [0]], num_true=1, num_sampled=1, unique=True, range_max=1, expect=one)
        bad = {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 5, "raises": InvalidArgumentError}
        yield Sample([0], **bad)
        yield Sample([[0, 1]], **bad)
        yield Sample([[0]], **{**bad, "range_max": 2})

    return row


UniformCandidateSampler = _row("UniformCandidateSampler", lambda count, *_: _Law(count))
LogUniformCandidateSampler = _row("LogUniformCandidateSampler", lambda count, *_: _LogUniform(count))


def _learned(name: str):
    # A kernel of TensorFlow's, one for each combination of attrs, remembers what it has learned.
    laws: dict[tuple, _Learned] = {}

    def law_of(count: int, *attrs) -> _Law:
        if count >= 2**31 - 1:
            raise invalid(f"range_max must be less than {2**31 - 1}, got {count}")
        return laws.setdefault((starts(), count, *attrs), _Learned(count))

    return _row(name, law_of)


LearnedUnigramCandidateSampler = _learned("LearnedUnigramCandidateSampler")
ThreadUnsafeUnigramCandidateSampler = _learned("ThreadUnsafeUnigramCandidateSampler")


def _read_weights(path: str) -> list[float]:
    """The last column of a file of comma-separated values."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise NotFoundError(None, None, f"{path}; {error.strerror}") from error
    out = []
    for line in lines:
        try:
            out.append(float(line.rpartition(",")[2]))
        except ValueError:
            raise invalid(f"Wrong vocabulary format at line: {line}") from None
    return out


@op(
    "FixedUnigramCandidateSampler",
    _SIGNATURE,
    attrs={
        **_ATTRS,
        "range_max": integer,
        "vocab_file": "",
        "distortion": 1.0,
        "num_reserved_ids": 0,
        "num_shards": 1,
        "shard": 0,
        "unigrams": floats([]),
        **_SEEDS,
    },
    shape=_rule,
    touches="files",  # `vocab_file`
)
def FixedUnigramCandidateSampler(
    xp: ModuleType, true_classes: Array, num_true: int, num_sampled: int, unique: bool, range_max: int,
    vocab_file: str, distortion: float, num_reserved_ids: int, num_shards: int, shard: int,
    unigrams: Sequence[float], seed: int, seed2: int,
):
    _checked(true_classes, num_true, num_sampled, range_max)
    if not vocab_file and not unigrams:
        raise invalid("Must provide either vocab_file or unigrams.")
    if vocab_file and unigrams:
        raise invalid("Must only provide one of vocab_file and unigrams.")
    if num_shards < 1 or shard < 0:
        raise invalid(f"num_shards must be positive and shard not negative, got {num_shards} and {shard}")
    reserved = len(range(shard, num_reserved_ids, num_shards))
    if reserved > range_max:
        raise invalid(f"range_max is {range_max}, but there are {reserved} reserved classes")
    weights = [0.0] * reserved
    first = len(weights)
    for i, w in enumerate(_read_weights(vocab_file) if vocab_file else unigrams, first):
        if i % num_shards == shard:
            weights.append(float(np.float32(np.float32(w) ** np.float32(distortion))))
    if len(weights) != range_max:
        raise invalid(f"range_max is {range_max}, but there are weights for {len(weights)} classes")
    if not sum(weights) > 0 or min(weights) < 0 or not math.isfinite(sum(weights)):
        raise invalid("The weights must be finite, not negative, and not all be zero")
    law = _Fixed(weights)
    key = num_true, unique, range_max, vocab_file, distortion, num_reserved_ids, num_shards, shard, unigrams
    g = _stream("FixedUnigramCandidateSampler", seed, seed2, num_sampled, *key)
    if unique and num_sampled > sum(w > 0 for w in weights):
        raise invalid("Sampler's range is too small.")
    return _drawn(law, true_classes, num_sampled, unique, g)


FixedUnigramCandidateSampler.gradient(None)
FixedUnigramCandidateSampler.compiled(never="it draws one number after the other")


@FixedUnigramCandidateSampler.samples
def _(rng):
    common = {"num_true": 1, "num_sampled": 1, "unique": True, "range_max": 2}
    certain = (np.ones(1, np.int64), np.float32([[0], [1]]), np.ones(1, np.float32))
    yield Sample([[0], [1]], **common, unigrams=[0.0, 3.0], expect=certain)
    yield Sample([[0], [1]], **common, unigrams=[3.0], num_reserved_ids=1, expect=certain)
    yield Sample([[0]], **common, raises=InvalidArgumentError)
    yield Sample([[0]], **common, unigrams=[1.0], raises=InvalidArgumentError)
    yield Sample([[0]], **common, unigrams=[1.0, 1.0], vocab_file="x", raises=InvalidArgumentError)


@op("AllCandidateSampler", _SIGNATURE, attrs={**_ATTRS, **_SEEDS}, shape=_rule)
def AllCandidateSampler(
    xp: ModuleType, true_classes: Array, num_true: int, num_sampled, unique: bool, seed: int, seed2: int
):
    _checked(true_classes, num_true, num_sampled, num_sampled)
    ones = xp.ones
    return xp.arange(num_sampled), ones(true_classes.shape, np.float32), ones(num_sampled, np.float32)


AllCandidateSampler.gradient(None)


@AllCandidateSampler.samples
def _(rng: SampleGenerator):
    yield Sample(
        [[1, 2]],
        num_true=2,
        num_sampled=3,
        unique=True,
        expect=(np.arange(3), np.ones((1, 2), np.float32), np.ones(3, np.float32)),
    )
    yield Sample([1], num_true=1, num_sampled=3, unique=True, raises=InvalidArgumentError)
    yield Sample([[1]], num_true=2, num_sampled=3, unique=True, raises=InvalidArgumentError)
    yield Sample([[3]], num_true=1, num_sampled=3, unique=True, raises=InvalidArgumentError)


def _hits_rule(call):
    shapes.exactly(call.shape(0)[1], call.attr("num_true"))
    return [(None,), (None,), (None,)]


@op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32",
    attrs={"num_true": integer, **_SEEDS},
    ranks="true_classes: 2, sampled_candidates: 1",
    shape=_hits_rule,
    stateful=False,
)
def ComputeAccidentalHits(
    xp: ModuleType, true_classes: Array, sampled_candidates: Array, num_true: int, seed: int, seed2: int
):
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise invalid("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise invalid(
            "sampled_candidates must be a vector, which is typically an output from CandidateSampler"
        )
    place = {v: i for i, v in enumerate(sampled_candidates.tolist())}
    hits = [(i, place[v]) for i, row in enumerate(true_classes.tolist()) for v in row if v in place]
    found = np.array(hits, np.int64).reshape(-1, 2)
    lowest = np.full(len(found), np.finfo(np.float32).min)
    return found[:, 0].astype(np.int32), found[:, 1], lowest


ComputeAccidentalHits.gradient(None)
ComputeAccidentalHits.compiled(never="how many hits there are depends on the values")


@ComputeAccidentalHits.samples
def _(rng):
    lowest = np.finfo(np.float32).min
    yield Sample(
        [[1, 2], [3, 4], [5, 1]],
        [5, 2, 1, 2],
        num_true=2,
        expect=(
            np.int32([0, 0, 2, 2]),
            np.array([2, 3, 0, 2]),
            np.full(4, lowest),
        ),
    )
    yield Sample([[1], [3]], [0, 5], num_true=1,
                 expect=(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.float32)))  # fmt: skip
    yield Sample([[1, 2]], [1], num_true=1, raises=InvalidArgumentError)
    yield Sample([1], [1], num_true=1, raises=InvalidArgumentError)
    yield Sample([[1]], [[1]], num_true=1, raises=InvalidArgumentError)
