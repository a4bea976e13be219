"""The pass over a dataset whose elements go through a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.data.iteration.passes import Over
from tapeflow.data.transform.tracing import translated


class Mapped(Over):
    """`fn` of each element."""

    __slots__ = ("_call", "_fn", "_position", "_spread")

    def __init__(self, fn, values):
        super().__init__(values)
        self._fn = fn
        self._call = fn.begun()
        self._spread = fn.spread
        self._position = -1

    def __next__(self):
        value = next(self._input)
        self._position += 1
        try:
            return self._call(*value) if self._spread else self._call(value)
        except Exception as error:
            raise translated(error, self._fn.transformation, self._position) from error

    def save(self):
        return [self._input.save(), self._position]

    def restore(self, state: Sequence[Any]):
        inner, self._position = state
        self._input.restore(inner)
