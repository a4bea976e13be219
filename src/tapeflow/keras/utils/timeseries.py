"""Datasets of windows of a series, and splits of datasets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.data.dataset import AUTOTUNE, Dataset
from tapeflow.keras.utils.directories import check_format
from tapeflow.keras.utils.sequence import Sequence


def timeseries_dataset_from_array(
    data: np.ndarray, targets: np.ndarray | None, sequence_length: int, sequence_stride: int = 1,
    sampling_rate: int = 1, batch_size: int = 128, shuffle: bool = False, seed: int | None = None, start_index=None,
    end_index=None, format: str = "tf",
):
    """Make a dataset of batches of windows of a series, with their targets.

    Args:
      data: the series, an array whose first axis is time.
      targets: what belongs to the window that begins at each time; None for windows alone.
      sequence_length: how many steps a window has.
      sequence_stride: how far windows are apart.
      sampling_rate: how far steps of a window are apart.
      batch_size: the number of windows in a batch; None for single windows.
      shuffle: whether windows come in a random order.
      seed: an integer for the shuffling; None for a random one.
      start_index: the first time that is used; None for all.
      end_index: before which time to end; None for all.
      format: "tf", the only kind of datasets that there is.

    Returns:
      A dataset of (windows, targets), or of windows.

    Raises:
      ValueError: for settings that do not fit the data.

    >>> dataset = tf.keras.preprocessing.timeseries_dataset_from_array(np.arange(5), None, sequence_length=3)
    >>> print(next(iter(dataset)).numpy())
    [[0 1 2]
     [1 2 3]
     [2 3 4]]
    """
    check_format(format)
    lengths = {"sequence_length": sequence_length, "sequence_stride": sequence_stride, "sampling_rate": sampling_rate}
    _check(len(data), lengths, start_index, end_index)
    start = 0 if start_index is None else start_index
    end = len(data) if end_index is None else end_index
    windows = end - start - (sequence_length - 1) * sampling_rate
    if targets is not None:
        windows = min(windows, len(targets))
    positions = np.arange(0, max(windows, 0), sequence_stride)
    if shuffle:
        np.random.RandomState(np.random.randint(10**6) if seed is None else seed).shuffle(positions)
    values = np.asarray(data)[start:end]
    steps = np.arange(sequence_length) * sampling_rate
    wanted = None if targets is None else np.asarray(targets)[start : end if end_index else None]

    def batches():
        size = batch_size or 1
        for i in range(0, len(positions), size):
            rows = positions[i : i + size]
            found = values[rows[:, None] + steps]
            pair = found if wanted is None else (found, wanted[rows])
            yield pair if batch_size else nest.map_structure(lambda a: a[0], pair)

    spec = _spec((None,) * bool(batch_size) + (None,) * bool(batch_size) + values.shape[1:]
                 if batch_size else (sequence_length, *values.shape[1:]), values)  # fmt: skip
    if wanted is not None:
        lead = (None,) if batch_size else ()
        spec = (spec, _spec((*lead, *wanted.shape[1:]), wanted))
    dataset = Dataset.from_generator(batches, output_signature=spec)
    return dataset.prefetch(AUTOTUNE)


def _check(count: int, lengths: dict[str, Any], start_index, end_index):
    """Raise ValueError for lengths and indices that do not fit `count` values."""
    for name, value in lengths.items():
        if value <= 0 or value >= count > 0:
            raise ValueError(
                f"`{name}` must be higher than 0 and lower than the length of the data. Received: "
                f"{name}={value} for data of length {count}"
            )
    for name, value in (("start_index", start_index), ("end_index", end_index)):
        if value is not None and not 0 <= value < count:
            raise ValueError(
                f"`{name}` must be higher than 0 and lower than the length of the data. Received: "
                f"{name}={value}"
            )
    if start_index is not None and end_index is not None and end_index <= start_index:
        raise ValueError(
            "`end_index` must be higher than `start_index`. Received: "
            f"start_index={start_index}, and end_index={end_index} "
        )


def _spec(shape, values: np.ndarray):
    return TensorSpec(shape, values.dtype)


def split_dataset(
    dataset: np.ndarray, left_size=None, right_size: int | None = None, shuffle: bool = False,
    seed: int | None = None, preferred_backend=None,
):  # fmt: skip
    """Split a dataset, or arrays, into two datasets.

    Args:
      dataset: a `Dataset`, a `Sequence`, an array, or arrays that go along.
      left_size: how many elements the first one has, or which part of all, a float; None for what the second leaves.
      right_size: the same for the second.
      shuffle: whether elements are shuffled before.
      seed: an integer for the shuffling; None for a random one.
      preferred_backend: None or "tensorflow": there are no other datasets here.

    Returns:
      Two datasets.

    Raises:
      ValueError: for sizes that do not fit.
      TypeError: for what is no data.
    """
    if preferred_backend not in (None, "tensorflow"):
        raise ValueError(f"`preferred_backend` must be None or 'tensorflow', got {preferred_backend!r}.")
    if isinstance(dataset, (Dataset, Sequence)):
        elements = list(dataset)
    elif isinstance(dataset, (list, tuple, dict, np.ndarray)):
        elements = list(Dataset.from_tensor_slices(
            dataset if not isinstance(dataset, list) else np.asarray(dataset)))  # fmt: skip
    else:
        raise TypeError(
            "The `dataset` argument must be either a `tf.data.Dataset`, a list/tuple of arrays, or an "
            f"array; got {type(dataset)}."
        )
    count = len(elements)
    left, right = (_size(v, count, n) for v, n in ((left_size, "left"), (right_size, "right")))
    if left is None and right is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified.")
    left = count - right if left is None else left
    right = count - left if right is None else right
    if left + right > count:
        raise ValueError(
            f"The sum of `left_size` and `right_size` should not be greater than the number of "
            f"elements, {count}; got {left} and {right}."
        )
    if shuffle:
        np.random.RandomState(seed).shuffle(elements)
    parts = (elements[:left], elements[left : left + right])
    return tuple(_dataset_of(part) for part in parts)


def _size(value: int | None, count: int, side: str):
    if value is None:
        return None
    if isinstance(value, float):
        if not 0 <= value <= 1:
            raise ValueError(f"`{side}_size` must be between 0 and 1 as a float, got {value}.")
        return round(value * count)
    if not 0 <= value <= count:
        raise ValueError(
            f"`{side}_size` must be at most the number of elements, {count}; got {value}."
        )
    return int(value)


def _dataset_of(elements):
    if not elements:
        raise ValueError("A part of the split has no elements.")

    def stacked(*leaves):
        return np.stack([np.asarray(leaf) for leaf in leaves])

    return Dataset.from_tensor_slices(nest.map_structure(stacked, *elements))

boundaries(globals())
