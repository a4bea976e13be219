"""`tensorflow.python.keras.engine.data_adapter`: what training loops of libraries do with the data of `fit`."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from tapeflow._native import Tensor
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.keras.engine.fitting.batches import Batches, as_batches, split_validation
from tapeflow.keras.engine.fitting.epochs import length_of
from tapeflow.keras.engine.fitting.packing import pack_x_y_sample_weight, unpack_x_y_sample_weight
from tapeflow.ops.array.layout import expand_dims

__all__ = [
    "DataHandler", "expand_1d", "get_data_handler", "pack_x_y_sample_weight", "single_batch_iterator",
    "train_validation_split", "unpack_x_y_sample_weight",
]  # fmt: skip



def expand_1d(data: Any) -> Any:
    """The structure with an axis of 1 at the end of each vector."""
    return nest.map_structure(
        lambda x: expand_dims(x, -1) if isinstance(x, Tensor) and x.shape.rank == 1 else x, data
    )


def train_validation_split(arrays: Any, validation_split: float) -> tuple[Any, Any]:
    """(what comes first, the last `validation_split`) of arrays and tensors in a structure; None stays None.

    Raises ValueError for what cannot be cut, and where one of both would be empty.
    """
    leaves = nest.flatten(arrays)
    if all(leaf is None for leaf in leaves):
        return arrays, arrays
    present: Any = [leaf for leaf in leaves if leaf is not None]
    nothing: Any = None
    (first, _, _), (last, _, _) = split_validation(present, nothing, None, validation_split)

    def packed(parts: list[Any]) -> Any:
        following = iter(parts)
        return nest.pack_sequence_as(arrays, [None if leaf is None else next(following) for leaf in leaves])

    return packed(first), packed(last)


def single_batch_iterator(
    strategy: Any, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None
) -> Iterator[Any]:
    """An iterator of one batch, which is all that was given.

    Args:
      strategy: the strategy whose replicas get their parts of it.
      x: the inputs.
      y: the targets.
      sample_weight: a weight for each sample.
      class_weight: {class: its weight}.
    """
    size = len(nest.flatten(x)[0])
    batches = as_batches(x, y, sample_weight, batch_size=size, class_weight=class_weight)
    # A batch without targets is a tuple of one here, whatever the release.
    data = tuple(part for part in unpack_x_y_sample_weight(next(iter(batches))) if part is not None)
    return iter(strategy.experimental_distribute_dataset(Dataset.from_tensors(data)))


class DataHandler:
    """Epochs of batches, for loops that run steps themselves.

    The arguments are those of `fit`. A dataset comes as its own iterator, which functions can read from; other data
    come in plain iterators of batches.

    Args:
      x: arrays, a dataset, a generator or a `Sequence`.
      y: the targets.
      sample_weight: a weight for each sample.
      batch_size: of arrays; None: 32.
      steps_per_epoch: how many batches are an epoch; None: all; -1: without an end.
      initial_epoch: the number of the first epoch.
      epochs: the number after that of the last.
      shuffle: whether arrays are shuffled in each epoch.
      class_weight: {class: its weight}.
      max_queue_size: not used, as batches are made by one thread.
      workers: not used.
      use_multiprocessing: not used.
      model: not used; TensorFlow asks it which adapters it takes.
      steps_per_execution: a number or a variable: how many steps the caller runs at once.
      distribute: not used: one process sees all data.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        batch_size: int | None = None,
        steps_per_epoch: int | None = None,
        initial_epoch: int = 0,
        epochs: int = 1,
        shuffle: bool = False,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        model: Any = None,
        steps_per_execution: Any = None,
        distribute: bool = True,
    ):
        self._first, self._epochs = initial_epoch, epochs
        self._many = int(1 if steps_per_execution is None else steps_per_execution)
        asked = steps_per_epoch
        self._batches = as_batches(x, y, sample_weight, batch_size, shuffle, asked, class_weight)
        self._data = x if isinstance(x, Dataset) and class_weight is None else _Tuples(self._batches)
        self._inferred = length_of(self._batches) if asked is None else None if asked == -1 else asked
        self._again = asked is None  # an epoch is all there is
        self._step, self._increment, self._ended = 0, self._many - 1, False

    def enumerate_epochs(self) -> Iterator[tuple[int, Any]]:
        """(the number of the epoch, an iterator of its batches) pairs."""
        iterator = iter(self._data)
        for epoch in range(self._first, self._epochs):
            if self._ended:
                break
            if self._again and epoch > self._first:
                iterator = iter(self._data)
            yield epoch, iterator
            self._batches.on_epoch_end()

    def steps(self) -> Iterator[int]:
        """The number of the first step of each execution of an epoch."""
        self._step = 0
        while not self._ended and (self._inferred is None or self._step < self._inferred):
            left = self._many if self._inferred is None else min(self._many, self._inferred - self._step)
            self._increment = left - 1
            yield self._step
            self._step += left

    @contextlib.contextmanager
    def catch_stop_iteration(self) -> Iterator[None]:
        """A context that ends the epoch where the data end, or the training, where there should have been more."""
        try:
            yield
        except (StopIteration, OutOfRangeError):
            if self._inferred is None:
                self._inferred = self._step
                return
            self._ended = True
            wanted = (self._epochs - self._first) * self._inferred
            warnings.warn(
                "Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                f"generate at least `steps_per_epoch * epochs` batches (in this case, {wanted} batches). You may "
                "need to use the repeat() function when building your dataset.",
                stacklevel=2,
            )

    def sync(self) -> None:
        """Nothing: every step has ended when it returns."""

    @property
    def step_increment(self) -> int:
        """How many steps more than one the last execution was for."""
        return self._increment

    @property
    def inferred_steps(self) -> int | None:
        """How many steps an epoch has; None while that is not known."""
        return self._inferred

    @property
    def should_sync(self) -> bool:
        """Whether the end of an epoch is seen by its data alone."""
        return self._inferred is None


def get_data_handler(*args: Any, **kwargs: Any) -> DataHandler:
    """A `DataHandler` of these arguments."""
    return DataHandler(*args, **kwargs)


class _Tuples:
    """The batches as tuples, as datasets give them."""

    def __init__(self, batches: Batches):
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        return (batch if isinstance(batch, tuple) else (batch,) for batch in self._batches)
