"""Philox 4x32-10, and TensorFlow's way from its bits to numbers: what the kernels of the random ops use.

In NumPy; in `jax.numpy` for a generator whose key and counter are only known when compiled code runs.

The generator: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_MASK32 = np.uint64(0xFFFFFFFF)
_MASK64 = (1 << 64) - 1
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_SCRAMBLE = 0x02461E293EC8F720
# Blocks of four words that each output has to itself where the number it takes is not known beforehand.
STRETCH = 256


class Philox(NamedTuple):
    """A position in a stream: a 64-bit key and a 128-bit counter of blocks of four 32-bit words.

    The three are ints, or uint64 scalars of JAX.
    """

    key: Any
    low: Any
    high: Any

    @property
    def xp(self) -> Any:
        """The library that computes this generator's numbers."""
        return np if isinstance(self.key, int) else importlib.import_module("jax.numpy")

    def skip(self, blocks: int) -> Philox:
        counter = (self.high << 64 | self.low) + blocks
        return Philox(self.key, counter & _MASK64, counter >> 64 & _MASK64)

    def blocks(self, count: int) -> np.ndarray:
        """The next `count` blocks: uint32 [count, 4]."""
        return _blocks(self, np.arange(count, dtype=np.uint64))

    def words(self, count: int) -> np.ndarray:
        """The next `count` words."""
        return self.blocks(-(-count // 4)).reshape(-1)[:count]


def _blocks(g: Philox, offsets: np.ndarray) -> np.ndarray:
    xp = g.xp
    key, start, above = g if xp is not np else (int(g.key), np.uint64(g.low), np.uint64(g.high))
    low = offsets + start
    high = above + (low < offsets).astype(np.uint64)
    c = [low & _MASK32, low >> np.uint64(32), high & _MASK32, high >> np.uint64(32)]
    k0, k1 = (key & 0xFFFFFFFF, key >> 32) if xp is np else (key & _MASK32, key >> np.uint64(32))
    wide = np.uint64 if xp is np else lambda k: k
    step0, step1 = _WEYL if xp is np else map(np.uint64, _WEYL)
    mask = 0xFFFFFFFF if xp is np else _MASK32
    for _ in range(10):
        a, b = c[0] * _MULTIPLIERS[0], c[2] * _MULTIPLIERS[1]
        c = [
            b >> np.uint64(32) ^ c[1] ^ wide(k0),
            b & _MASK32,
            a >> np.uint64(32) ^ c[3] ^ wide(k1),
            a & _MASK32,
        ]
        k0, k1 = (k0 + step0) & mask, (k1 + step1) & mask
    return xp.stack(c, axis=-1).astype(np.uint32)


def from_seed(seed) -> Philox:
    """The generator that a seed of two integers stands for; mixed once, since users' seeds are poor in bits."""
    if not isinstance(seed, (np.ndarray, list, tuple)):
        s0, s1 = seed.astype(np.int64).view(np.uint64)
        w = Philox(s0 * np.uint64(0) + np.uint64(_SCRAMBLE), s0, s1).blocks(1)[0].astype(np.uint64)
        return Philox(w[0] | w[1] << np.uint64(32), w[0] * np.uint64(0), w[2] | w[3] << np.uint64(32))
    s0, s1 = (int(s) & _MASK64 for s in seed)
    w = [int(x) for x in Philox(_SCRAMBLE, s0, s1).blocks(1)[0]]
    return Philox(w[0] | w[1] << 32, 0, w[2] | w[3] << 32)


def _unit_float(words: np.ndarray) -> np.ndarray:
    bits = (words & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return bits.view(np.float32) - np.float32(1)


def _unit_double(x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
    bits = (x0.astype(np.uint64) & np.uint64(0xFFFFF)) << np.uint64(32) | x1.astype(np.uint64)
    return (bits | np.uint64(1023 << 52)).view(np.float64) - 1.0


def double_pairs(g: Philox, offsets: np.ndarray) -> np.ndarray:
    """Doubles of [0, 1), two from each block at these uint64 `offsets`, in the order in which `Doubles` draws."""
    words = _blocks(g, offsets)
    return _unit_double(words[:, [2, 0]], words[:, [3, 1]])


def uniform(g: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` numbers of [0, 1)."""
    if dtype == np.float64:
        words = g.words(2 * count)
        return _unit_double(words[0::2], words[1::2])
    words = g.words(count)
    if dtype == np.float32:
        return _unit_float(words)
    bits = 10 if dtype == np.float16 else 7
    return ((words & np.uint32((1 << bits) - 1)) / np.float32(1 << bits)).astype(dtype)


def _box_muller(xp: Any, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Pairs of standard normals from pairs of uniforms: [..., 2]."""
    real = u.dtype.type

    def exactly(f: Callable[..., Any], x):
        # NumPy's single-precision functions are some units off in the last place; C's, which TensorFlow calls, are not.
        return f(x.astype(np.float64)).astype(u.dtype)

    radius = xp.sqrt(real(-2) * exactly(xp.log, xp.maximum(u, real(1e-7))))
    angle = (2 * math.pi * v.astype(np.float64)).astype(u.dtype)
    return xp.stack([exactly(xp.sin, angle) * radius, exactly(xp.cos, angle) * radius], axis=-1)


def _normal_pairs(xp: Any, words: np.ndarray, double: bool) -> np.ndarray:
    if double:
        w = words.reshape(*words.shape[:-1], -1, 4)
        u, v = _unit_double(w[..., 0], w[..., 1]), _unit_double(w[..., 2], w[..., 3])
        return _box_muller(xp, u, v)
    return _box_muller(xp, _unit_float(words[..., 0::2]), _unit_float(words[..., 1::2]))


def normal(g: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` standard normals."""
    double = dtype == np.float64
    words = g.blocks(-(-count // (2 if double else 4))).reshape(-1)
    return _normal_pairs(g.xp, words, double).reshape(-1)[:count].astype(dtype, copy=False)


def truncated_normal(g: Philox, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` standard normals, each drawn again until it is within two standard deviations."""
    double = dtype == np.float64
    group = 2 if double else 4
    groups = -(-count // group)
    if g.xp is not np and groups:
        return _truncated_by_jax(g, groups, group).reshape(-1)[:count].astype(dtype)
    out = np.zeros((groups, group), np.float64 if double else np.float32)
    missing = np.arange(groups)
    tries = 8
    while missing.size:
        starts = missing.astype(np.uint64) * np.uint64(group * STRETCH // 4)
        blocks = _blocks(g, (starts[:, None] + np.arange(tries, dtype=np.uint64)).reshape(-1))
        words = blocks.reshape(missing.size, -1)
        drawn = _normal_pairs(np, words, double).reshape(missing.size, -1)
        good = np.abs(drawn) < 2
        enough = good.sum(1) >= group
        order = np.argsort(~good, axis=1, kind="stable")[:, :group]
        out[missing[enough]] = np.take_along_axis(drawn, order, 1)[enough]
        missing = missing[~enough]
        tries *= 2
    return out.reshape(-1)[:count].astype(dtype, copy=False)


def _truncated_by_jax(g: Philox, groups: int, group: int) -> Any:
    """[groups, group]. Of eight blocks, all but one of 10^18 groups find enough; they are not asked for more."""
    xp, tries = g.xp, 8
    starts = np.arange(groups, dtype=np.uint64) * np.uint64(group * STRETCH // 4)
    blocks = _blocks(g, (starts[:, None] + np.arange(tries, dtype=np.uint64)).reshape(-1))
    drawn = _normal_pairs(xp, blocks.reshape(groups, -1), group == 2).reshape(groups, -1)
    order = xp.argsort(~(xp.abs(drawn) < 2), axis=1, stable=True)[:, :group]
    return xp.take_along_axis(drawn, order, 1)


def integers(g: Philox, count: int, dtype: np.dtype, low: int = 0, span: int = 0) -> np.ndarray:
    """`count` integers of [low, low + span); of the whole range of `dtype` when span is 0."""
    wide = dtype.itemsize == 8
    unsigned = np.uint64 if wide else np.uint32
    words = g.words(2 * count if wide else count)
    if g.xp is np:
        bits = words.astype("<u4").view("<u8").astype(np.uint64) if wide else words
    else:
        w = words.astype(np.uint64)
        bits = w[0::2] | w[1::2] << np.uint64(32) if wide else words
    if span:
        bits = bits % unsigned(span) + unsigned(low & (_MASK64 if wide else 0xFFFFFFFF))
    return bits.view(dtype)


def permutation(g: Philox, n: int) -> np.ndarray:
    """The order that shuffling n rows puts them in."""
    if g.xp is not np:
        return _permutation_by_jax(g, n)
    order = np.arange(n)
    for i, word in enumerate(g.words(max(n - 1, 0)).tolist()):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return order


def _permutation_by_jax(g: Philox, n: int) -> Any:
    jax = importlib.import_module("jax")
    words = g.words(max(n - 1, 0)).astype(np.int64)

    def swap(i: Any, order: Any) -> Any:
        j = i + words[i] % (n - i)
        return order.at[i].set(order[j]).at[j].set(order[i])

    return jax.lax.fori_loop(0, n - 1, swap, g.xp.arange(n)) if n > 1 else g.xp.arange(n)


def categorical(g: Philox, logits: np.ndarray, samples: int) -> np.ndarray:
    """Classes [rows, samples] drawn by unnormalised log-probabilities [rows, classes]; not finite ones never are."""
    xp, rows = g.xp, logits.shape[0]
    logits = logits.astype(np.float64)
    finite = xp.isfinite(logits)
    largest = xp.max(xp.where(finite, logits, -np.inf), axis=1, keepdims=True)
    weights = xp.exp(xp.where(finite, logits - xp.where(xp.isfinite(largest), largest, 0), -np.inf))
    sums = xp.cumsum(weights, axis=1)
    u = uniform(g, rows * samples, np.dtype(np.float64)).reshape(rows, samples)
    found = [xp.searchsorted(sums[i], u[i] * sums[i, -1], side="right") for i in range(rows)]
    return xp.array(found, np.int64).reshape(rows, samples)


class Doubles:
    """Doubles and normals drawn one by one from one stream: each comes in pairs of which the second is used first."""

    def __init__(self, g: Philox) -> None:
        self._g = g
        self._uniforms: list[float] = []
        self._normals: list[float] = []

    def _block(self) -> np.ndarray:
        words = self._g.blocks(1)
        self._g = self._g.skip(1)
        return words

    def uniform(self) -> float:
        if not self._uniforms:
            w = self._block().reshape(2, 2)
            self._uniforms = _unit_double(w[:, 0], w[:, 1]).tolist()
        return self._uniforms.pop()

    def normal(self) -> float:
        if not self._normals:
            self._normals = _normal_pairs(np, self._block(), True).reshape(-1).tolist()
        return self._normals.pop()


class Words:
    """Numbers drawn from one stream, word by word."""

    def __init__(self, g: Philox) -> None:
        self._g = g
        self._words: list[int] = []

    def word(self) -> int:
        if not self._words:
            self._words = self._g.words(1024).tolist()[::-1]
            self._g = self._g.skip(256)
        return self._words.pop()

    def wide(self) -> int:
        low = self.word()
        return low | self.word() << 32

    def unit_float(self) -> float:
        return (self.word() & 0x7FFFFF) / float(1 << 23)

    def unit_double(self) -> float:
        high, low = self.word(), self.word()
        return ((high & 0xFFFFF) << 32 | low) / float(1 << 52)

    def below(self, n: int) -> int:
        """A number of [0, n), by one or more words."""
        return self._below(n, self.word, (1 << 32) - 1)

    def below_wide(self, n: int) -> int:
        """A number of [0, n), by one or more pairs of words."""
        return self._below(n, self.wide, (1 << 64) - 1)

    @staticmethod
    def _below(n: int, draw: Callable[[], int], largest: int) -> int:
        if n & (n - 1) == 0:
            return draw() & (n - 1)
        skewed = largest % n + 1
        while True:
            drawn = draw()
            if drawn >= skewed:
                return drawn % n


def by_rejection(
    g: Philox,
    parameters: np.ndarray,
    samples: int,
    draw: Callable[[float, Doubles], float],
    stretch: int = STRETCH,
) -> np.ndarray:
    """[samples, *parameters.shape] draws; each has its own stretch of the stream."""
    flat = parameters.reshape(-1).astype(np.float64)
    out = np.empty((samples, flat.size))
    for p in range(flat.size):
        for s in range(samples):
            out[s, p] = draw(float(flat[p]), Doubles(g.skip((p * samples + s) * stretch)))
    return out.reshape(samples, *parameters.shape)


def gamma_draw(alpha: float, random: Doubles) -> float:
    """Marsaglia and Tsang, "A simple method for generating gamma variables", 2000."""
    if alpha == 1:
        return -math.log1p(-random.uniform())
    small = alpha < 1
    d = alpha + (2 / 3 if small else -1 / 3)
    c = 1 / 3 / math.sqrt(d)
    while True:
        x = random.normal()
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        u = random.uniform()
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        if squeezed or (u > 0 and math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v))):
            return d * v * (random.uniform() ** (1 / alpha if alpha else math.inf) if small else 1.0)


def poisson_draw(rate: float, random: Doubles) -> float:
    """Knuth's method for small rates, else Hörmann's transformed rejection (1993). NaN where there is no such law."""
    if not math.isfinite(rate) or rate < 0:
        return math.nan
    if rate < 10:
        stop, product, k = math.exp(-rate), random.uniform(), 0.0
        while product > stop:
            product *= random.uniform()
            k += 1
        return k
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = random.uniform() - 0.5, random.uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        left = math.log(v * inverse_alpha / (a / (us * us) + b)) if v > 0 else -math.inf
        if left <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k
