"""Epochs over batches: of all there are, or of so many steps each."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.keras import settings

if TYPE_CHECKING:
    from tapeflow.keras.engine.fitting.batches import Batches


def length_of(batches: Batches):
    """How many batches there are; None if that is not known."""
    try:
        length = len(batches)
    except TypeError:
        return None
    return length if length >= 0 else None


class Epochs:
    """Epochs of batches: of all there are, or of `steps` each, which go on where the last one ended.

    `many` batches are taken by every execution. It is itself the iterator that functions of a step take them from.
    """

    def __init__(self, batches: Batches, steps: int | None, many: int = 1):
        self._batches, self._steps, self._many = batches, steps, many
        self._source = None
        self.exhausted = False
        self.length = steps
        self.last = 0  # the number of the last step done
        self._taken = 0

    def epoch(self):
        """(step, iterator) pairs: each caller takes batches from the iterator by `call`."""
        if self._steps is None or self._source is None:
            self._source = iter(self._batches)
        self._taken = 0
        # Where the end is known, no step is begun for which there is no batch.
        end = length_of(self._batches) if self._steps is None else self._steps
        end = settings.at_most(end, settings.max_steps_per_epoch())
        while end is None or self._taken < end:
            before = self._taken
            yield before, self
            if self._taken == before:
                break
        self._finish()

    def _finish(self):
        if self._steps is None:
            self.length = self._taken
            # Pipelines that keep what has passed, as caches do, have to see their end.
            next(self._source, None)

    def call(self, function: Callable[..., Any], iterator: Epochs):
        """function(iterator), or None where the data has ended."""
        try:
            result = function(iterator)
        except StopIteration:
            if self._steps is None:
                self.length = self._taken
            return None
        self.last = self._taken - 1
        return result

    def __iter__(self):
        return self

    def __next__(self):
        if self._steps is not None and self._taken >= self._steps:
            raise StopIteration
        try:
            data = next(self._source)
        except StopIteration:
            if self._steps is None:
                raise
            data = self._again()
        self._taken += 1
        return data

    def _again(self):
        """The first batch of another pass over the data; where that is over, training ends."""
        self._source = iter(self._batches)
        try:
            return next(self._source)
        except StopIteration:
            self.exhausted = True
            warnings.warn(
                "Your input ran out of data; interrupting training. Make sure that your dataset or "
                "generator can generate at least `steps_per_epoch * epochs` batches. You may need to "
                "use the `.repeat()` function when building your dataset.",
                stacklevel=2,
            )
            raise
