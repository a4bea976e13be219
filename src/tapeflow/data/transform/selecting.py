"""Transformations that choose and repeat elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Counted, Over, Pass, close_pass, later
from tapeflow.data.parts import parts_of
from tapeflow.data.sources.rows import after_rows, every_nth_row, first_rows
from tapeflow.data.transform.leaving_out import ignored_errors, spec_of, unique
from tapeflow.data.transform.record import ELEMENTS, record, same_spec

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_INFINITE = -1
_UNKNOWN = -2


class SelectingMethods:
    """Methods of Dataset."""

    def take(self, count: TensorLike, name: str | None = None):
        """Keep the first elements.

        Args:
          count: how many; -1 for all.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print([int(x) for x in tf.data.Dataset.range(10).take(3)])
        [0, 1, 2]
        """
        return taken(self, count)

    def skip(self, count: TensorLike, name: str | None = None):
        """Leave out the first elements.

        Args:
          count: how many; -1 for all.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return skipped(self, count)

    def shard(self, num_shards: int, index: int, name: str | None = None):
        """Keep every num_shards-th element.

        Args:
          num_shards: the number of parts.
          index: which part this is, from 0.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          InvalidArgumentError: for an index out of range.

        >>> print([int(x) for x in tf.data.Dataset.range(6).shard(3, 1)])
        [1, 4]
        """
        return sharded(self, num_shards, index)

    def repeat(self, count: int | None = None, name: str | None = None):
        """Pass over the dataset several times.

        Args:
          count: how often; None or -1 for without end.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print([int(x) for x in tf.data.Dataset.range(2).repeat(2)])
        [0, 1, 0, 1]
        """
        return repeated(self, count)

    def unique(self, name: str | None = None):
        """The elements without repetitions; they must be single tensors."""
        return unique(self)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None):
        """Leave out the elements that raise errors when they are made.

        Args:
          log_warning: whether a line is logged for each.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return ignored_errors(self, log_warning)


def _over_rows(dataset: Dataset, change: Callable[..., Any], *seeds):
    """The row stream with its blocks changed, or None where the dataset is no row stream."""
    rows = parts_of(dataset).rows
    return None if rows is None else rows.with_blocks(lambda: change(rows.blocks), *seeds)


@record("take", spec=same_spec)
def taken(dataset: Dataset, count: Any):
    """Dataset arguments for the first elements."""
    count = integer(count, "TakeDataset")
    size = parts_of(dataset).size
    if count < 0:
        return "Take", parts_of(dataset).start, spec_of(dataset), size, parts_of(dataset).rows
    rows = _over_rows(dataset, lambda blocks: first_rows(blocks(), count))
    start = rows.start if rows is not None else lambda: _Taken(parts_of(dataset).start(), count)
    size = count if size == _INFINITE else min(size, count) if size >= 0 else _UNKNOWN
    return "Take", start, spec_of(dataset), size, rows


taken.node(
    "TakeDataset", "input_dataset: variant, count: int64 -> handle: variant", {**ELEMENTS, "metadata": ""}
)


class _Taken(Over):
    __slots__ = ("_left",)

    def __init__(self, values, count):
        super().__init__(values)
        self._left = count

    def __next__(self):
        if self._left <= 0:
            raise StopIteration
        value = next(self._input)
        self._left -= 1
        if self._left == 0:
            close_pass(self._input)
        return value

    def save(self):
        return [self._input.save(), self._left]

    def restore(self, state: Sequence[Any]):
        inner, self._left = state
        self._input.restore(inner)


@record("skip", spec=same_spec)
def skipped(dataset: Dataset, count: int):
    """Dataset arguments for what follows the first elements."""
    count = integer(count, "SkipDataset")
    size = parts_of(dataset).size
    if count < 0:
        return "Skip", lambda: Counted(tuple), spec_of(dataset), min(size, 0)
    rows = _over_rows(dataset, lambda blocks: after_rows(blocks(), count))
    start = rows.start if rows is not None else lambda: _Skipped(parts_of(dataset).start(), count)
    return "Skip", start, spec_of(dataset), max(0, size - count) if size >= 0 else size, rows


skipped.node(
    "SkipDataset", "input_dataset: variant, count: int64 -> handle: variant", {**ELEMENTS, "metadata": ""}
)


class _Skipped(Over):
    __slots__ = ("_left",)

    def __init__(self, values: Any, count: int):
        super().__init__(values)
        self._left = count

    def __next__(self):
        while self._left:
            next(self._input)
            self._left -= 1
        return next(self._input)

    def save(self):
        return [self._input.save(), self._left]

    def restore(self, state: Sequence[Any]):
        inner, self._left = state
        self._input.restore(inner)


@record("shard", spec=same_spec)
def sharded(dataset: Dataset, num_shards: int, index: int):
    """Dataset arguments for one of num_shards interleaved parts."""
    op = "ShardDataset"
    count, index = integer(num_shards, op), integer(index, op)
    message = f"Number of shards must be greater than zero (currently num_shards = {count})."
    require(count > 0, message, op)
    message = f"Index must be between 0 and {count - 1} (currently index = {index})."
    require(0 <= index < count, message, op)
    rows = _over_rows(dataset, lambda blocks: every_nth_row(blocks(), count, index))
    start = rows.start if rows is not None else lambda: _Sharded(parts_of(dataset).start(), count, index)
    size = parts_of(dataset).size
    if size >= 0:
        size = len(range(index, size, count))
    return "Shard", start, spec_of(dataset), size, rows


sharded.node(
    "ShardDataset", "input_dataset: variant, num_shards: int64, index: int64 -> handle: variant",
    {"require_non_empty": False, **ELEMENTS, "metadata": ""},
)  # fmt: skip


class _Sharded(Over):
    __slots__ = ("_count", "_skip")

    def __init__(self, values: Counted, count: int, index: int):
        super().__init__(values)
        self._count = count
        self._skip = index

    def __next__(self):
        while self._skip:
            next(self._input)
            self._skip -= 1
        value = next(self._input)
        self._skip = self._count - 1
        return value

    def save(self):
        return [self._input.save(), self._skip]

    def restore(self, state: Sequence[int]):
        inner, self._skip = state
        self._input.restore(inner)


@record("repeat", spec=same_spec)
def repeated(dataset: Dataset, count: int | None):
    """Dataset arguments for several passes."""
    count = -1 if count is None else integer(count, "RepeatDataset")

    def passes(blocks: Callable[..., Any]):
        number = 0
        while number != count:
            number += 1
            empty = True
            for block in blocks():
                empty = False
                yield block
            if empty and count < 0:
                return  # an endless repetition of nothing ends

    rows = _over_rows(dataset, passes)
    size = parts_of(dataset).size
    if size == 0 or count == 0:
        size = 0
    elif count < 0:
        size = _INFINITE
    elif size > 0:
        size *= count
    start = rows.start if rows is not None else lambda: _Repeated(parts_of(dataset).start, count)
    return "Repeat", start, spec_of(dataset), size, rows


repeated.node(
    "RepeatDataset", "input_dataset: variant, count: int64 -> handle: variant", {**ELEMENTS, "metadata": ""},
    absent={"count": -1},
)  # fmt: skip


class _Repeated(Pass):
    __slots__ = ("_count", "_empty", "_input", "_number", "_start")

    def __init__(self, start: Callable[..., Any], count: int):
        self._start = later(start)
        self._count = count
        self._number = 0  # of passes that have ended
        self._input = None
        self._empty = True

    def __next__(self):
        while self._number != self._count:
            if self._input is None:
                self._input = self._start()
                self._empty = True
            try:
                value = next(self._input)
            except StopIteration:
                self._input = None
                self._number += 1
                if self._empty and self._count < 0:
                    self._number = self._count  # an endless repetition of nothing ends
                continue
            except BaseException:
                self._empty = False
                raise
            self._empty = False
            return value
        raise StopIteration

    def save(self):
        if self._input is None and self._number != self._count:
            self._input = self._start()  # where its shuffles begin is part of where it is
            self._empty = True
        return [self._number, self._empty, None if self._input is None else self._input.save()]

    def restore(self, state):
        self._number, self._empty, inner = state
        self._input = None
        if inner is not None:
            self._input = self._start()
            self._input.restore(inner)

    def close(self):
        """Closes what it reads."""
        close_pass(self._input)


boundaries(globals())
