"""Epochs over batches: of all there are, or of so many steps each."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.release import keras_2
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

    An epoch of `steps` ends with the data, and the next one begins another pass. `many` batches are taken by every
    execution. It is itself the iterator that functions of a step take them from.
    """

    def __init__(self, batches: Batches, steps: int | None, many: int = 1):
        self._batches, self._many = batches, many
        self._steps = settings.at_most(steps, settings.max_steps_per_epoch())
        self._size = length_of(batches)
        self._source: Any = None
        self.exhausted = False
        self.length = steps
        self.last = 0  # the number of the last step done
        self._seen = 0  # how many batches the steps of this pass were for

    def epoch(self):
        """(step, iterator) pairs: each caller takes batches from the iterator by `call`."""
        self._batches.on_epoch_begin()
        steps = self._steps or self._size
        if self._source is None or self._steps is None:
            self._begin()
        for step in itertools.count(0, self._many) if steps is None else range(0, steps, self._many):
            if self._size is not None and self._seen >= self._size:
                if self._steps:
                    _warn_of_end()
                break
            self._seen += self._many
            self.last = step + self._many - 1
            before = self._source
            yield step, self
            if self._source is not before:  # the data have ended
                break
        if self._size is not None and self._seen >= self._size:
            if self._source is not None and self._steps is None:
                next(self._source, None)  # pipelines that keep what has passed, as caches do, have to see their end
            self._source = None
        self._batches.on_epoch_end()

    def logs(self, logs: Any):
        """The logs of an epoch, of those of its last step."""
        return logs

    def ended(self):
        """Say to the data that an epoch has ended, validation included; in Keras 3 they knew before that."""

    def _begin(self):
        self._source, self._seen = iter(self._batches), 0

    def call(self, function: Callable[..., Any], iterator: Epochs):
        """function(iterator), or None where the data has ended."""
        try:
            result = function(iterator)
        except StopIteration:
            self._source = None
            if self._size is None:
                self._size = self._seen
                if self._steps:
                    self._look_for_more()
            if self._steps:
                _warn_of_end()
            return None
        if self._steps is None:
            self.length = self.last + 1
        return result

    def _look_for_more(self):
        """Begin another pass; where it has no batches, as one of an iterator, there can be no more epochs."""
        self._begin()
        first = list(itertools.islice(self._source, 1))
        self.exhausted = not first
        self._source = itertools.chain(first, self._source)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._source)


def _warn_of_end():
    warnings.warn(
        "Your input ran out of data; interrupting training. Make sure that your dataset or "
        "generator can generate at least `steps_per_epoch * epochs` batches. You may need to "
        "use the `.repeat()` function when building your dataset.",
        stacklevel=2,
    )


class _EpochsOfKeras2(Epochs):
    """Epochs as Keras 2 has them: where data end within an epoch of `steps`, another pass begins."""

    def __init__(self, batches: Batches, steps: int | None, many: int = 1):
        self._batches, self._steps, self._many = batches, steps, many
        self._source: Any = None
        self.exhausted = False
        self.length = steps
        self.last = 0
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

    def ended(self):
        """Say to the data that an epoch has ended, validation included."""
        self._batches.on_epoch_end()

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
            _warn_of_end()
            raise


def epochs_of(batches: Batches, steps: int | None, many: int = 1, reset: bool = True) -> Epochs:
    """Return epochs of batches as the chosen Keras has them; `reset`: data of Keras 3 are set back before the first."""
    if hasattr(batches, "epochs"):  # other processes take them
        return batches.epochs(steps, many)
    if keras_2():
        return _EpochsOfKeras2(batches, steps, many)
    if reset:
        batches.on_epoch_end()
    return Epochs(batches, steps, many)
