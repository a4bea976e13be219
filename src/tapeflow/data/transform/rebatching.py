"""Rows gathered in batches of other sizes than they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.data.iteration.passes import Over


class Rebatched(Over):
    """`make` of as many rows as each of `sizes` says, in turn; `none`: gives what there is of no rows."""

    __slots__ = ("_drop", "_make", "_none", "_number", "_over", "_sizes")

    def __init__(
        self, values, sizes: Sequence[int], drop: bool, make: Callable[..., Any], none: Callable[[], Any]
    ):
        super().__init__(values)
        self._none = none
        self._sizes, self._drop, self._make = sizes, drop, make
        self._number = 0
        self._over = False

    def __next__(self):
        if self._over:
            raise StopIteration
        size = self._sizes[self._number % len(self._sizes)]
        if not size:  # which takes no rows, and so does not find the end
            self._number += 1
            return self._none()
        batch = []
        while len(batch) < size:
            try:
                batch.append(next(self._input))
            except StopIteration:
                self._over = True
                break
        self._number += 1
        if not batch or (self._over and self._drop):
            raise StopIteration
        return self._make(batch)

    def save(self):
        return [self._input.save(), self._number, self._over]

    def restore(self, state: Sequence[Any]):
        inner, self._number, self._over = state
        self._input.restore(inner)
