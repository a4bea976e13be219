"""`Dataset.shuffle`: TensorFlow's generator and its buffer, number for number."""

from __future__ import annotations

import contextlib
import operator
import secrets
import threading
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.public import boundaries
from tapeflow.data.arguments import GraphSeeds, integer, require
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, record, same_spec
from tapeflow.ops.random.seed import get_seed

_MULTIPLIER = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_UNKNOWN = -2
_BLOCK = 4096  # counters drawn at once: enough to hide NumPy's cost per call
_PIECE = 1 << 14  # numbers shuffled at once, while other threads wait


_access = threading.local()


@contextlib.contextmanager
def random_access():
    """Within, passes of this thread have the one order that elements are found in by their number."""
    before = getattr(_access, "on", False)
    _access.on = True
    try:
        yield
    finally:
        _access.on = before


def _order(size: int, seeds: SeedGenerator) -> tuple[int, PhiloxStream]:
    """The size of the buffer and the numbers of the pass that begins now."""
    if getattr(_access, "on", False):
        return 2**62, PhiloxStream(*seeds.access_seeds)
    return size, PhiloxStream(*seeds.next_seeds())


class ShufflingMethods:
    """Methods of Dataset."""

    def shuffle(
        self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ):
        """Draw elements at random from a buffer that the next elements fill.

        Args:
          buffer_size: how many elements the buffer holds; for a uniform shuffle at least as many as there are.
          seed: an integer for the same order in every run; None for others.
          reshuffle_each_iteration: whether every pass has another order; None for True.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print(sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(4, seed=1)))
        [0, 1, 2, 3]
        """
        return shuffled(self, buffer_size, seeds_of_graph(seed), reshuffle_each_iteration)


@record("shuffle", spec=same_spec)
def shuffled(dataset, buffer_size, seed, reshuffle_each_iteration):
    """Dataset arguments for a random order."""
    op = "ShuffleDatasetV3"
    size = integer(buffer_size, op)
    message = "buffer_size must be greater than zero or UNKNOWN_CARDINALITY"
    require(size > 0 or size == _UNKNOWN, message, op)
    seeds = SeedGenerator(*graph_and_op_seed(seed), reshuffle_each_iteration in (None, True))
    whole = 2**62 if size == _UNKNOWN else size

    rows = parts_of(dataset).rows
    if rows is not None:
        ordered = rows
        rows = rows.with_blocks(
            lambda: shuffled_numbers(ordered.blocks(), *_order(whole, seeds)), seeds
        )
    start = rows.start if rows is not None else lambda: Shuffled(parts_of(dataset).start(), whole, seeds)
    return "Shuffle", start, lambda: dataset.element_spec, parts_of(dataset).size, rows


def node_seeds(attrs: dict[str, Any], given: dict[str, Any]):
    """The arguments of a node with two seeds; without any, its order differs from run to run."""
    found = given["seed"], given["seed2"]
    return {**given, "seed": GraphSeeds(*(found if any(found) else (secrets.randbits(62), 1)))}


def _written(call: dict[str, Any]):
    seed = call["seed"]
    if isinstance(seed, GraphSeeds):
        seeds = seed.first or 0, seed.second or 0
    else:
        seeds = graph_and_op_seed(seed) if seed is not None else (0, 0)
    again = call["reshuffle_each_iteration"] in (None, True)
    return {**call, "seed": seeds[0], "seed2": seeds[1], "reshuffle_each_iteration": again}


_INPUTS = "input_dataset: variant, buffer_size: int64"
shuffled.node(
    "ShuffleDataset", f"{_INPUTS}, seed: int64, seed2: int64 -> handle: variant",
    {"reshuffle_each_iteration": True, **ELEMENTS, "metadata": ""}, reads=node_seeds, written=False,
)  # fmt: skip
shuffled.node(
    "ShuffleDatasetV2", f"{_INPUTS}, seed_generator: resource -> handle: variant", {**ELEMENTS, "metadata": ""},
    stateful=True,
    reads=lambda attrs, given: {**given, "seed": GraphSeeds(secrets.randbits(62), 1), "reshuffle_each_iteration": True},
    written=False,
)  # fmt: skip
shuffled.node(
    "ShuffleDatasetV3", f"{_INPUTS}, seed: int64, seed2: int64, seed_generator: resource -> handle: variant",
    {"reshuffle_each_iteration": True, **ELEMENTS, "metadata": ""}, stateful=True, reads=node_seeds, writes=_written,
)  # fmt: skip


def seeds_of_graph(seed: int | None):
    """The seed of a random dataset: while a graph is built, the two that the graph gives it."""
    if context.executing_eagerly() or hasattr(seed, "dtype"):
        return seed
    return GraphSeeds(*get_seed(seed))


def graph_and_op_seed(seed):
    """The two seeds of a random dataset, never both zero, as TensorFlow derives them."""
    if isinstance(seed, GraphSeeds):
        first, second = seed
    else:
        first, second = get_seed(None if seed is None else integer(seed, "ShuffleDatasetV3"))
    if first is None and second is None:
        first, second = get_seed(None)
    first, second = first or 0, second or 0
    return (first, second) if first or second else (0, 2**31 - 1)


class PhiloxStream:
    """32-bit numbers of Philox4x32-10 (Salmon et al., 2011) keyed by two 64-bit seeds."""

    def __init__(self, seed: int, seed2: int):
        self._key = seed & (2**64 - 1)
        self._high = seed2 & (2**64 - 1)
        self._counter = 0
        self._unused = iter(())

    def save(self) -> list[int]:
        """Its seeds and position, of which `saved` makes it again."""
        return [self._key, self._high, self.position]

    @classmethod
    def saved(cls, state: Sequence[int]) -> PhiloxStream:
        """The stream that `save` gave the state of."""
        key, high, position = state
        made = cls(key, high)
        made.seek(position)
        return made

    @property
    def position(self):
        """How many numbers were taken."""
        return 4 * self._counter - operator.length_hint(self._unused)

    def seek(self, position: int):
        """Goes on after the first `position` numbers."""
        self._counter, taken = divmod(position, 4)
        self._unused = iter(())
        if taken:
            self._unused = iter(self._draw(1).tolist()[taken:])

    def __iter__(self):
        return self

    def __next__(self):
        for number in self._unused:
            return number
        # The first draws are few: a seed generator asks for two numbers per epoch.
        count = 4 if self._counter == 0 else _BLOCK
        self._unused = iter(self._draw(count).tolist())
        return next(self._unused)

    def take(self, count: int):
        """The next `count` numbers as an array."""
        left = np.fromiter(islice(self._unused, count), np.uint64)
        if left.size == count:
            return left
        more = self._draw(-(-(count - left.size) // 4))
        self._unused = iter(more[count - left.size :].tolist())
        return np.concatenate([left, more[: count - left.size]])

    def _draw(self, count: int):
        """The numbers of the next `count` counters, four each."""
        low = np.arange(self._counter, self._counter + count, dtype=np.uint64)
        self._counter += count
        c0, c1 = low & _LOW, low >> np.uint64(32)
        c2 = np.full(count, self._high & 0xFFFFFFFF, np.uint64)
        c3 = np.full(count, self._high >> 32, np.uint64)
        k0, k1 = self._key & 0xFFFFFFFF, self._key >> 32
        for _ in range(10):
            p0, p1 = c0 * _MULTIPLIER[0], c2 * _MULTIPLIER[1]
            c0, c1, c2, c3 = (
                (p1 >> np.uint64(32)) ^ c1 ^ np.uint64(k0),
                p1 & _LOW,
                (p0 >> np.uint64(32)) ^ c3 ^ np.uint64(k1),
                p0 & _LOW,
            )
            k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
        return np.stack([c0, c1, c2, c3], axis=1).ravel()


class SeedGenerator:
    """Seeds for each pass over a shuffled dataset: always the same, or new ones every time."""

    def __init__(self, seed, seed2, reshuffle):
        self._seeds = (seed, seed2)
        self._stream = PhiloxStream(seed, seed2) if reshuffle else None

    @property
    def access_seeds(self):
        """The pair of seeds of the order for random access; TensorFlow gives the first twice without reshuffling."""
        return self._seeds if self._stream is not None else (self._seeds[0], self._seeds[0])

    @property
    def position(self):
        """How many seeds were drawn."""
        return 0 if self._stream is None else self._stream.position

    def seek(self, position: int):
        """Goes on after the first `position` seeds."""
        if self._stream is not None:
            self._stream.seek(position)

    def next_seeds(self):
        """The pair of seeds of the pass that begins now."""
        if self._stream is None:
            return self._seeds
        return next(self._stream), next(self._stream)


def shuffled_numbers(blocks, size: int, stream: PhiloxStream):
    """Arrays of numbers in the order in which a shuffle buffer of `size` numbers lets them out, as `Shuffled` does."""
    waiting, held = [], 0  # until the buffer is full
    buffer, start = None, 0
    for block in blocks:
        if buffer is None:
            waiting.append(block[: size - held])
            held += waiting[-1].size
            if held < size:
                continue
            buffer, block = np.concatenate(waiting), block[waiting[-1].size :]
        for piece in range(0, block.size, _PIECE):
            leaving = block[piece : piece + _PIECE].astype(np.int64)
            start = _native.shuffle_through(buffer, start, leaving, stream.take(leaving.size))
            yield leaving
    parts = waiting if buffer is None else [buffer[start:], buffer[:start]]
    rest = np.concatenate([np.empty(0, np.int64), *parts])
    while rest.size:
        count = min(rest.size, _PIECE)
        _native.shuffle_rest(rest, stream.take(count))
        yield rest[:count]
        rest = rest[count:]


class Shuffled(Over):
    """The elements of another pass, in the order in which a shuffle buffer lets them out.

    A random item of the buffer leaves; the buffer's first item takes its place, and the next item of the input the
    first one's.
    """

    __slots__ = ("_buffer", "_generator", "_left", "_over", "_size", "_start", "_stream")

    def __init__(self, values, size, generator):
        super().__init__(values)
        self._generator = generator
        self._size, self._stream = _order(size, generator)
        self._buffer = []
        self._start = 0
        self._over = False
        self._left = None  # when the input has ended: what is to come, in reverse

    def __next__(self):
        if self._left is not None:
            if self._left:
                return self._left.pop()
            raise StopIteration
        buffer, size = self._buffer, self._size
        while not self._over:
            try:
                item = next(self._input)
            except StopIteration:
                self._over = True
                break
            if len(buffer) < size:
                buffer.append(item)
                continue
            start = self._start
            index = start + next(self._stream) % size
            if index >= size:
                index -= size
            value = buffer[index]
            buffer[index] = buffer[start]
            buffer[start] = item
            self._start = 0 if start + 1 == size else start + 1
            return value
        self._left = drained(buffer[self._start :] + buffer[: self._start], self._stream)[::-1]
        self._buffer = []
        return self.__next__()

    def save(self):
        stream = self._stream.save()
        return [
            self._input.save(), self._buffer, self._start, self._over, self._left, stream,
            self._generator.position,
        ]  # fmt: skip

    def restore(self, state: Sequence[Any]):
        inner, self._buffer, self._start, self._over, self._left, stream, drawn = state
        self._input.restore(inner)
        self._stream = PhiloxStream.saved(stream)
        self._generator.seek(drawn)


def drained(buffer: Any, stream: PhiloxStream):
    """What is left in the buffer when the input has ended, in the order in which it leaves."""
    count = len(buffer)
    first = np.arange(count, dtype=np.uint64)
    indices = first + stream.take(count) % (np.uint64(count) - first)
    for i, index in enumerate(indices.tolist()):
        buffer[i], buffer[index] = buffer[index], buffer[i]
    return buffer


boundaries(globals())
