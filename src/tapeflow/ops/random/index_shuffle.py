"""Places in a random permutation, each computed by itself: a small block cipher, walked until it stays in range.

The cipher is Simon with few rounds (Beaulieu et al., "The Simon and Speck families of lightweight block ciphers",
2013); walking: Black and Rogaway, "Ciphers with arbitrary finite domains", 2002. Not for secrets.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array import padding
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

_TYPES = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
_CONSTANT = 0xFFFFFFFC
_SEQUENCE = 0x7369F885192C0EF5
_SMALLEST_BLOCK = 16
_MOST_ROUNDS = 1024  # what is mixed thoroughly after a few needs no more; the keys of all rounds are in memory


def _round_keys(seed, rounds: int, word: int) -> list[int]:
    mask = (1 << word) - 1

    def right(x, by):
        return (x >> by | x << (word - by)) & mask

    keys = [int(s) & 0xFFFFFFFF & mask for s in seed]
    for i in range(3, rounds):
        bit = (_SEQUENCE & mask) >> (i - 3) & 1
        keys.append((_CONSTANT & mask) ^ bit ^ keys[i - 3] ^ right(keys[-1], 3) ^ right(keys[-1], 4))
    return keys


def _mixed(x: int, word: int) -> int:
    mask = (1 << word) - 1

    def left(by):
        return (x << by | x >> (word - by)) & mask

    return (left(1) & left(8)) ^ left(2)


def _shuffled(index: int, seed: int, largest: int, rounds: int) -> int:
    """Where `index` comes to in a permutation of 0 ... largest."""
    if largest == 0:
        return 0
    bits = (largest - 1).bit_length()
    block = max(bits + bits % 2, _SMALLEST_BLOCK)
    word = block // 2
    mask = (1 << word) - 1
    keys = _round_keys(seed, rounds, word)
    while True:
        left, right = index >> word & mask, index & mask
        for first, second in zip(keys[0::2], keys[1::2], strict=True):
            left ^= _mixed(right, word) ^ first
            right ^= _mixed(left, word) ^ second
        index = left << word | right
        if index <= largest:
            return index


def _rule(call: ShapeCall):
    index, seed, largest = call.shape(0), call.shape(1), call.shape(2)
    if seed is not None:
        shapes.exactly(seed[-1], 3)
        seed = seed[:-1]
    several: shapes.Shape = None
    for shape in (index, seed, largest):
        several = shapes.merge(several, shape or None)
    return [() if (index, seed, largest) == ((), (), ()) else several]


@op(
    "RandomIndexShuffle",
    "index: dtype, seed: Tseed, max_index: dtype -> output: dtype",
    types={"dtype": _TYPES, "Tseed": _TYPES},
    attrs={"rounds": 4},
    ranks="index: 0-1, seed: 1-2, max_index: 0-1",
    shape=_rule,
)
def RandomIndexShuffle(xp: ModuleType, index: Array, seed: Array, max_index: Array, rounds: int):
    count = max(index.size, max_index.size, seed.size // 3)
    if rounds < 4 or rounds % 2:
        raise invalid(f"Number of rounds should be an even number >= 4, got {rounds}")
    if rounds > _MOST_ROUNDS:
        raise invalid(f"Number of rounds should be at most {_MOST_ROUNDS}, got {rounds}")
    if index.shape not in ((), (count,)):
        raise invalid(f"Index must be a scalar or vector, got shape {shape_text(index.shape)}")
    if seed.shape not in ((3,), (count, 3)):
        raise invalid(
            f"Seed must be a vector of size [3] or a matrix of size [{count}, 3] but got {shape_text(seed.shape)}."
        )
    if max_index.shape not in ((), (count,)):
        raise invalid(
            "Maxval must be a scalar or a vector of the same size as index but got "
            f"{shape_text(max_index.shape)}"
        )
    out = np.empty(count, index.dtype)
    rows = np.broadcast_to(seed, (count, 3)).tolist()
    places = np.broadcast_to(index, count).tolist()
    limits = np.broadcast_to(max_index, count).tolist()
    for i, (place, row, largest) in enumerate(zip(places, rows, limits, strict=True)):
        if place < 0:
            raise invalid(f"index must be >= 0 but was {place}")
        if largest < 0:
            raise invalid(f"max_index must be >= 0 but was {largest}")
        if place > largest:
            raise invalid(f"max_index must be >= index, but {largest} < {place}")
        out[i] = _shuffled(place, row, largest, rounds)
    return out if index.ndim or max_index.ndim or seed.ndim > 1 else out[0]


RandomIndexShuffle.gradient(None)
RandomIndexShuffle.compiled(never="how long it walks depends on the values")


@RandomIndexShuffle.samples
def _(rng):
    key = np.array([1, 2, 3], np.uint32)
    yield Sample([0, 1, 2, 3, 4], key, 4, expect=np.int32([2, 0, 3, 4, 1]))
    yield Sample([0, 1, 2, 3, 4], key, 4, rounds=6, expect=np.int32([1, 4, 3, 2, 0]))
    yield Sample([0, 1, 2], key, 999_999, rounds=66, expect=np.int32([927987, 468000, 724857]))
    yield Sample([0, 1, 2], key, 999_999, rounds=2**30, raises=InvalidArgumentError)
    yield Sample([3, 4], [[1, 2, 3], [4, 5, 6]], [9, 20], expect=np.int32([4, 13]))
    yield Sample(0, key, 0, expect=np.int32(0))
    yield Sample(11, key, 9, raises=InvalidArgumentError)
    yield Sample(3, key[:2], 9, raises=InvalidArgumentError)
    yield Sample([[3]], key, 9, raises=InvalidArgumentError)
    yield Sample([3, 4], key, [9, 9, 9], raises=InvalidArgumentError)


@api("random_index_shuffle")
@tensor_function
def random_index_shuffle(
    index: TensorLike, seed: TensorLike, max_index: TensorLike, rounds: int = 4, name: str | None = None
) -> Tensor:
    """Tell where an index comes to in a permutation that a seed chooses.

    Args:
      index: a scalar or vector of int32, int64, uint32 or uint64.
      seed: three integers, or three for each index.
      max_index: the largest index of the permutation.
      rounds: how many rounds the cipher has, an even number of 4 at least.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `index`, in [0, max_index].

    Raises:
      InvalidArgumentError: for an index above `max_index`.
    """
    return RandomIndexShuffle(index, seed, max_index, rounds)


@api("random.experimental.index_shuffle")
@public
def index_shuffle(index: IntLike, seed: IntLike, max_index):
    """Tell where an index comes to in a permutation that a seed chooses.

    Args:
      index: a scalar or vector of int32, int64, uint32 or uint64.
      seed: two integers, or two for each index.
      max_index: the largest index of the permutation.

    Returns:
      A tensor of the dtype and shape of `index`, in [0, max_index].

    >>> sorted(tf.random.experimental.index_shuffle(tf.range(5), seed=[1, 2], max_index=4).numpy().tolist())
    [0, 1, 2, 3, 4]
    """
    seed = convert_to_tensor(seed)
    rest = [[0, 0]] * ((seed.shape.rank or 1) - 1)
    # The number that TensorFlow puts where the row wants a third one.
    return RandomIndexShuffle(index, padding.pad(seed, [*rest, [1, 0]], constant_values=498247692), max_index)
