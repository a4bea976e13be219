"""Row streams: datasets that only choose and order rows of arrays held in memory.

`from_tensor_slices(...).shuffle(...).repeat(...).take(...)` never needs its elements one by one:
it is a stream of row numbers. A batch of it is one gather per array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data.element import is_structure, map_leaves
from tapeflow.data.iteration.passes import Pass
from tapeflow.ops.indexing.gather import gather


class RowStream:
    """`columns`: an element whose tensors hold the rows of every element along axis 0, or a
    function that makes it when it is first needed.

    `blocks()` starts a new pass: an iterator of int64 arrays of row numbers, none of them empty.
    """

    held = True  # the elements are in memory

    def __init__(self, columns: Any, blocks: Callable[..., Any], seeds: Sequence[Any] = ()):
        self._columns = columns
        self.blocks = blocks
        self.seeds = seeds  # of what shuffles them

    @property
    def columns(self):
        """The element of all rows."""
        return self._columns() if callable(self._columns) else self._columns

    def with_blocks(self, blocks: Callable[..., Any], *seeds):
        """The same columns, visited in another order."""
        return RowStream(self._columns, blocks, (*self.seeds, *seeds))

    def start(self):
        """A new pass, element by element."""
        return RowPass(self, _elements)

    def start_batches(self, size: int, drop_remainder: bool):
        """A new pass, `size` elements at a time."""
        return RowPass(
            self,
            lambda columns, blocks: _gathered(columns, regroup(blocks, size, drop_remainder)),
            size,
        )


class RowPass(Pass):
    """A pass over a row stream: where it is, is how many elements it gave, and how the shuffles began."""

    __slots__ = ("_count", "_make", "_marks", "_rows", "_size", "_values")

    def __init__(self, rows: RowStream, make: Callable[..., Any], size: int = 1):
        self._rows = rows
        self._make = make
        self._size = size
        self._count = 0
        self._marks = [seeds.position for seeds in rows.seeds]
        self._values = make(rows.columns, rows.blocks())

    def __next__(self):
        self._count += 1
        return next(self._values)

    def save(self):
        return [self._count, self._marks]

    def restore(self, state: Sequence[Any]):
        self._count, self._marks = state
        for seeds, mark in zip(self._rows.seeds, self._marks, strict=True):
            seeds.seek(mark)
        blocks = after_rows(self._rows.blocks(), self._count * self._size)
        self._values = self._make(self._rows.columns, blocks)


def _elements(columns: Tensor, blocks):
    getters = map_leaves(_row_getter, columns)
    if type(columns) is tuple and not any(isinstance(c, (tuple, Mapping)) for c in columns):
        for block in blocks:
            for i in block.tolist():
                yield tuple([get(i) for get in getters])
    elif is_structure(columns):
        for block in blocks:
            for i in block.tolist():
                yield map_leaves(lambda get: get(i), getters)  # noqa: B023 - used at once
    else:
        for block in blocks:
            for i in block.tolist():
                yield getters(i)


def _row_getter(column: Tensor):
    """A function that gives a row by its number."""
    if column.dtype == dtypes.string and column.shape.rank == 1:
        texts = column.numpy().tolist()  # a slice of strings would cost ten times as much
        return lambda i: convert_to_tensor(texts[i], dtypes.string)
    return column.__getitem__


def _gathered(columns: TensorLike, groups):
    for numbers in groups:
        yield gather_rows(columns, numbers)


def gather_rows(columns: TensorLike | dict[str, Any], numbers: np.ndarray):
    """One batched element: the rows `numbers` of every column."""
    first, size = int(numbers[0]), numbers.size
    if int(numbers[-1]) - first == size - 1 and (size < 3 or (numbers[1:] - numbers[:-1] == 1).all()):
        window = slice(first, first + size)
        return map_leaves(lambda column: column[window], columns)
    indices = convert_to_tensor(numbers)
    return map_leaves(lambda column: gather(column, indices), columns)


def all_rows(count: int):
    """Every row number below count, in order."""
    if count:
        yield np.arange(count, dtype=np.int64)


def regroup(blocks, size: int, drop_remainder: bool = False):
    """The same row numbers in arrays of `size`, the last one possibly shorter."""
    parts: list[np.ndarray] = []
    held = 0
    for block in blocks:
        if held + block.size < size:
            parts.append(block)
            held += block.size
            continue
        block = np.concatenate([*parts, block]) if parts else block
        whole = block.size - block.size % size
        for start in range(0, whole, size):
            yield block[start : start + size]
        held = block.size - whole
        parts = [block[whole:]] if held else []
    if held and not drop_remainder:
        yield np.concatenate(parts)


def first_rows(blocks, count):
    """The first `count` row numbers."""
    for block in blocks:
        if count <= 0:
            return
        yield block[:count]
        count -= block.size


def after_rows(blocks, count: int):
    """All but the first `count` row numbers."""
    for block in blocks:
        if count < block.size:
            yield block[count:]
        count = max(0, count - block.size)


def every_nth_row(blocks, step: int, offset: int):
    """The row numbers at positions offset, offset + step, ..."""
    for block in blocks:
        if offset < block.size:
            yield block[offset::step]
        offset = (offset - block.size) % step
