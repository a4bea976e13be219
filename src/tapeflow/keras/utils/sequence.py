"""`keras.utils.Sequence`: batches by number."""

from __future__ import annotations

from typing import Any

from tapeflow.core.public import boundaries


class Sequence:
    """Batches by number: subclasses define `__getitem__(index)` and `__len__`.

    In Keras 3 it is called `PyDataset`. `fit`, `evaluate` and `predict` take one as `x`.

    Args:
      workers: how many threads may make batches; kept as an attribute.
      use_multiprocessing: whether processes may make batches; kept as an attribute.
      max_queue_size: how many batches may wait; kept as an attribute.
    """

    _workers, _use_multiprocessing, _max_queue_size = 1, False, 10

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10):
        self._workers, self._use_multiprocessing = workers, use_multiprocessing
        self._max_queue_size = max_queue_size

    @property
    def workers(self):
        """How many threads may make batches."""
        return self._workers

    @workers.setter
    def workers(self, value: Any):
        self._workers = value

    @property
    def use_multiprocessing(self):
        """Whether processes may make batches."""
        return self._use_multiprocessing

    @use_multiprocessing.setter
    def use_multiprocessing(self, value: Any):
        self._use_multiprocessing = value

    @property
    def max_queue_size(self):
        """How many batches may wait."""
        return self._max_queue_size

    @max_queue_size.setter
    def max_queue_size(self, value: Any):
        self._max_queue_size = value

    @property
    def num_batches(self):
        """How many batches there are; None if that is not known."""
        try:
            return len(self)
        except (TypeError, NotImplementedError):
            return None

    def __getitem__(self, index: int):
        """The batch of that number."""
        raise NotImplementedError("Abstract method")

    def __len__(self):
        """How many batches there are."""
        raise NotImplementedError("Abstract method")

    def on_epoch_begin(self):
        """Called before every epoch."""

    def on_epoch_end(self):
        """Called after every epoch."""

    def __iter__(self):
        """All batches, once."""
        for index in range(len(self)):
            yield self[index]


PyDataset = Sequence


boundaries(globals())
