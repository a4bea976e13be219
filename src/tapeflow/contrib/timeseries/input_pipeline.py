"""Where series come from, and the windows that models see of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import gfile
from tapeflow.compat import v1
from tapeflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from tapeflow.core.public import boundaries

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class NumpyReader:
    """A series in arrays.

    Args:
      data: {"times": (n,), "values": (n,) or (n, features)}.
      read_num_records_hint: no meaning.

    Raises:
      ValueError: without times, for other shapes, and for features besides the two.
    """

    def __init__(self, data: Any, read_num_records_hint: int = 4096):
        if _TIMES not in data:
            raise ValueError(f"Times are missing: no key {_TIMES!r} in the data.")
        others = sorted(set(data) - {_TIMES, _VALUES})
        if others:
            raise ValueError(f"Exogenous features are not supported, got {others}")
        times, values = np.asarray(data[_TIMES], np.int64), np.asarray(data[_VALUES], np.float32)
        if times.ndim == 2 and len(times) == 1:  # a batch of one series
            times, values = times[0], values[0]
        values = values[:, None] if values.ndim == 1 else values
        if times.ndim != 1 or values.ndim != 2 or len(times) != len(values):
            raise ValueError(f"Times and values do not fit: shapes {times.shape} and {values.shape}")
        self._series = {_TIMES: times, _VALUES: values}

    def read_full(self):
        """{"times": int64 (n,), "values": float32 (n, features)}, in the order of time."""
        order = np.argsort(self._series[_TIMES], kind="stable")
        return {key: value[order] for key, value in self._series.items()}


class CSVReader(NumpyReader):
    """A series in files of comma-separated values.

    Args:
      filenames: a name, or several.
      column_names: of the columns: one is "times", the others are "values".
      skip_header_lines: how many lines come before.

    Raises:
      ValueError: for other columns, or without a file.
    """

    def __init__(self, filenames, column_names: Sequence[str] = (_TIMES, _VALUES), skip_header_lines: int = 0):
        names = list(column_names)
        if names.count(_TIMES) != 1 or set(names) != {_TIMES, _VALUES}:
            raise ValueError(f"Columns must be one {_TIMES!r} and else {_VALUES!r}, got {names}")
        files = [filenames] if isinstance(filenames, str) else list(filenames)
        if not files:
            raise ValueError("There is no file.")
        rows = []
        for name in files:
            with gfile.GFile(name) as file:
                rows += list(csv.reader(file.read().splitlines()[skip_header_lines:]))
        at = names.index(_TIMES)
        times = np.array([int(row[at]) for row in rows], np.int64)
        values = [[float(x) for i, x in enumerate(row) if i != at] for row in rows]
        super().__init__({_TIMES: times, _VALUES: np.array(values, np.float32)})


class RandomWindowInputFn:
    """Batches of windows that begin anywhere.

    Args:
      time_series_reader: a reader.
      window_size, batch_size: the length of windows, and how many at once.
      queue_capacity_multiplier, shuffle_min_after_dequeue_multiplier, num_threads: no meaning: windows are drawn.
      discard_out_of_order: no meaning: a series is read whole, and sorted by its times.
      discard_consecutive_batches_limit: no meaning.
      jitter: whether windows begin anywhere, else at multiples of their length.
      shuffle_seed: of the draws.

    Raises:
      ValueError: when called, for windows that are longer than the series.
    """

    def __init__(
        self, time_series_reader, window_size, batch_size: int, queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2, discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000, jitter: bool = True, num_threads: int = 2, shuffle_seed=None,
    ):  # fmt: skip
        self._reader, self._window, self._batch = time_series_reader, window_size, batch_size
        self._seed, self._step = shuffle_seed, 1 if jitter else window_size

    def __call__(self):
        """(features, None)."""
        series = self._reader.read_full()
        places = (len(series[_TIMES]) - self._window) // self._step + 1
        if len(series[_TIMES]) < self._window:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {self._window}, but only "
                f"{len(series[_TIMES])} records were available in the dataset. Either decrease the window size or "
                "provide more records."
            )
        starts = v1.random_uniform([self._batch], 0, places, v1.int32, seed=self._seed) * self._step
        chosen = starts[:, None] + v1.range(self._window)
        return {key: v1.gather(value, chosen) for key, value in series.items()}, None


class WholeDatasetInputFn:
    """The whole series as one window, again and again."""

    def __init__(self, time_series_reader):
        self._reader = time_series_reader

    def __call__(self):
        """(features, None)."""
        series = self._reader.read_full()
        return {key: v1.constant(value[None]) for key, value in series.items()}, None


def predict_continuation_input_fn(evaluation, steps=None, times=None, exogenous_features=None):
    """An input function for predictions of what comes after an evaluation.

    Args:
      evaluation: what `evaluate` returned.
      steps: how many times, one after the other.
      times: these times, (n,) or (batch, n), instead.
      exogenous_features: not supported.

    Raises:
      ValueError: without steps and times or for both, and for exogenous features.
    """
    if exogenous_features is not None:
        raise ValueError("Exogenous features are not supported.")
    if (steps is None) == (times is None):
        raise ValueError("One of `steps` and `times` must be given, and not both.")
    state = evaluation[PredictionFeatures.STATE_TUPLE]
    if times is None:
        times = np.asarray(state[0])[:, -1:] + np.arange(1, steps + 1)
    times = np.asarray(times, np.int64)
    features = {
        PredictionFeatures.TIMES: times[None] if times.ndim == 1 else times,
        PredictionFeatures.STATE_TUPLE: tuple(np.asarray(part) for part in state),
    }
    return lambda: v1.data.Dataset.from_tensors(features)


boundaries(globals())
