"""Transformations that choose, order and repeat elements."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require, require_callable
from tapeflow.data.rows import after_rows, every_nth_row, first_rows, in_blocks
from tapeflow.data.shuffling import PhiloxStream, SeedGenerator
from tapeflow.data.shuffling import shuffled as shuffle_items
from tapeflow.ops.random_seed import get_seed

_INFINITE = -1
_UNKNOWN = -2


def _spec(dataset):
    return lambda: dataset.element_spec


def _over_rows(dataset, change):
    """The row stream with its blocks changed, or None where the dataset is no row stream."""
    rows = dataset._rows
    return None if rows is None else rows.with_blocks(lambda: change(rows.blocks))


def _start(dataset, rows, change):
    """How to start a pass: over rows where possible, else over elements."""
    return rows.elements if rows is not None else lambda: change(dataset._start)


def taken(dataset, count):
    """Dataset arguments for the first elements."""
    count = integer(count, "TakeDataset")
    size = dataset._size
    if count < 0:
        return "Take", dataset._start, _spec(dataset), size, dataset._rows
    rows = _over_rows(dataset, lambda blocks: first_rows(blocks(), count))
    start = _start(dataset, rows, lambda start: itertools.islice(start(), count))
    size = count if size == _INFINITE else min(size, count) if size >= 0 else _UNKNOWN
    return "Take", start, _spec(dataset), size, rows


def skipped(dataset, count):
    """Dataset arguments for what follows the first elements."""
    count = integer(count, "SkipDataset")
    size = dataset._size
    if count < 0:
        return "Skip", lambda: iter(()), _spec(dataset), 0
    rows = _over_rows(dataset, lambda blocks: after_rows(blocks(), count))
    start = _start(dataset, rows, lambda start: itertools.islice(start(), count, None))
    return "Skip", start, _spec(dataset), max(0, size - count) if size >= 0 else size, rows


def taken_while(dataset, predicate):
    """Dataset arguments for the elements before the predicate fails."""
    require_callable(predicate)

    def elements():
        for value in dataset._start():
            keep = predicate(*value) if type(value) is tuple else predicate(value)
            if not keep:
                return
            yield value

    return "TakeWhile", elements, _spec(dataset)


def sharded(dataset, num_shards, index):
    """Dataset arguments for one of num_shards interleaved parts."""
    op = "ShardDataset"
    count, index = integer(num_shards, op), integer(index, op)
    message = f"Number of shards must be greater than zero (currently num_shards = {count})."
    require(count > 0, message, op)
    message = f"Index must be between 0 and {count - 1} (currently index = {index})."
    require(0 <= index < count, message, op)
    rows = _over_rows(dataset, lambda blocks: every_nth_row(blocks(), count, index))
    start = _start(dataset, rows, lambda start: itertools.islice(start(), index, None, count))
    size = dataset._size
    if size >= 0:
        size = len(range(index, size, count))
    return "Shard", start, _spec(dataset), size, rows


def repeated(dataset, count):
    """Dataset arguments for several passes."""
    count = -1 if count is None else integer(count, "RepeatDataset")

    def passes(start):
        for _ in itertools.count() if count < 0 else range(count):
            empty = True
            for value in start():
                empty = False
                yield value
            if empty and count < 0:
                return  # an endless repetition of nothing ends

    rows = _over_rows(dataset, passes)
    size = dataset._size
    if size == 0 or count == 0:
        size = 0
    elif count < 0:
        size = _INFINITE if size != _UNKNOWN else _UNKNOWN
    elif size > 0:
        size *= count
    return "Repeat", _start(dataset, rows, passes), _spec(dataset), size, rows


def shuffled(dataset, buffer_size, seed, reshuffle_each_iteration):
    """Dataset arguments for a random order."""
    op = "ShuffleDatasetV3"
    size = integer(buffer_size, op)
    message = "buffer_size must be greater than zero or UNKNOWN_CARDINALITY"
    require(size > 0 or size == _UNKNOWN, message, op)
    seeds = SeedGenerator(*graph_and_op_seed(seed), reshuffle_each_iteration in (None, True))
    whole = 2**62 if size == _UNKNOWN else size

    def shuffle_pass(items):
        return shuffle_items(items, whole, PhiloxStream(*seeds.next_seeds()))

    rows = dataset._rows
    if rows is not None:
        ordered = rows
        rows = rows.with_blocks(lambda: in_blocks(shuffle_pass(ordered.numbers())))
    start = _start(dataset, rows, lambda start: shuffle_pass(start()))
    return "Shuffle", start, _spec(dataset), dataset._size, rows


class GraphSeeds(NamedTuple):
    """The two seeds that a graph gives a random dataset, in place of its seed."""

    first: int | None
    second: int | None


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


def cached(dataset, filename):
    """Dataset arguments for a dataset that is made once."""
    if filename:
        raise InvalidArgumentError(
            None, None, f"Dataset.cache keeps elements in memory only; got filename={filename!r}"
        )
    memory = []

    def elements():
        if memory:
            yield from memory[0]
            return
        seen = []
        for value in dataset._start():
            seen.append(value)
            yield value
        memory[:] = [seen]

    # Rows are in memory already, and visited in the same order on every pass when not shuffled.
    fixed = dataset._kind in ("TensorSlice", "Range")
    return "Cache", elements, _spec(dataset), dataset._size, dataset._rows if fixed else None


def unique(dataset):
    """Dataset arguments for elements without repetitions."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "`tf.data.Dataset.unique()` only supports inputs with a single component of a "
            f"hashable dtype; got {spec}."
        )

    def elements():
        seen = set()
        for value in dataset._start():
            array = element.as_numpy(value)
            key = array if isinstance(array, bytes) else (array.shape, array.tobytes())
            if key not in seen:
                seen.add(key)
                yield value

    return "Unique", elements, _spec(dataset)
