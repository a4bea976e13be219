"""Counters, gauges and samplers: values by labels that a library notes of itself, kept in the process."""

from __future__ import annotations

import bisect
import functools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tapeflow import protos


class CounterCell:
    """A number that only grows."""

    __slots__ = ("_lock", "_value")

    def __init__(self) -> None:
        self._value, self._lock = 0, threading.Lock()

    def increase_by(self, value: int) -> None:
        """Adds to the number. Raises ValueError for a negative value.

        Args:
          value: what is added.
        """
        if value < 0:
            raise ValueError(f"A counter is increased by 0 or more, got {value}")
        with self._lock:
            self._value += int(value)

    def value(self) -> int:
        """The sum of what was added."""
        return self._value


class GaugeCell:
    """The value that was noted last."""

    __slots__ = ("_value",)
    kind: ClassVar[type[Any]]

    def __init__(self) -> None:
        self._value = type(self).kind()

    def set(self, value: Any) -> None:
        """Notes a value.

        Args:
          value: of the gauge's kind.
        """
        self._value = type(self).kind(value)

    def value(self) -> Any:
        """The value that was noted last."""
        return self._value


class IntGaugeCell(GaugeCell):
    """The int that was noted last, 0 before."""

    kind = int


class BoolGaugeCell(GaugeCell):
    """The bool that was noted last, False before."""

    kind = bool


class StringGaugeCell(GaugeCell):
    """The string that was noted last, empty before."""

    kind = str


class Buckets:
    """Limits of the buckets that a sampler counts in.

    Args:
      buckets: the limits, each greater than the one before it.
    """

    def __init__(self, buckets: Sequence[float]):
        self.buckets = tuple(float(limit) for limit in buckets)


class ExponentialBuckets(Buckets):
    """Limits that grow by a factor.

    Args:
      scale: the first limit.
      growth_factor: what each limit is multiplied by.
      bucket_count: how many there are.
    """

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        super().__init__([scale * growth_factor**i for i in range(bucket_count)])


class SamplerCell:
    """A histogram of samples.

    Args:
      limits: of the buckets.
    """

    __slots__ = ("_counts", "_least", "_limits", "_lock", "_most", "_squares", "_sum")

    def __init__(self, limits: Sequence[float]):
        self._limits, self._lock = [*limits, float("inf")], threading.Lock()
        self._counts = [0] * len(self._limits)
        self._least, self._most, self._sum, self._squares = float("inf"), float("-inf"), 0.0, 0.0

    def add(self, value: float) -> None:
        """Counts a sample.

        Args:
          value: the sample.
        """
        with self._lock:
            self._counts[bisect.bisect_right(self._limits[:-1], value)] += 1
            self._least, self._most = min(self._least, value), max(self._most, value)
            self._sum += value
            self._squares += value * value

    def value(self) -> Any:
        """The histogram, as a message."""
        with self._lock:
            count = sum(self._counts)
            return protos.HistogramProto(
                min=self._least if count else 0.0, max=self._most if count else 0.0, num=count, sum=self._sum,
                sum_squares=self._squares, bucket_limit=self._limits, bucket=self._counts,
            )  # fmt: skip


class Metric:
    """A cell for each combination of labels.

    Args:
      name: its name.
      description: what it tells.
      *labels: the names of the labels.
    """

    cell: ClassVar[Callable[[], Any]]

    def __init__(self, name: str, description: str, *labels: str):
        self.name, self.description, self._labels = name, description, labels
        self._cells: dict[tuple[str, ...], Any] = {}
        self._lock = threading.Lock()

    def _new_cell(self) -> Any:
        return type(self).cell()

    def get_cell(self, *labels: str) -> Any:
        """The cell of the values of the labels. Raises ValueError for another number of labels.

        Args:
          *labels: a value for each label.
        """
        if len(labels) != len(self._labels):
            raise ValueError(
                f"The {self.name!r} metric takes {len(self._labels)} labels, got {len(labels)}"
            )
        with self._lock:
            if labels not in self._cells:
                self._cells[labels] = self._new_cell()
            return self._cells[labels]


class Counter(Metric):
    """A number that grows, for each combination of labels."""

    cell = CounterCell


class IntGauge(Metric):
    """An int for each combination of labels."""

    cell = IntGaugeCell


class BoolGauge(Metric):
    """A bool for each combination of labels."""

    cell = BoolGaugeCell


class StringGauge(Metric):
    """A string for each combination of labels."""

    cell = StringGaugeCell


class Sampler(Metric):
    """A histogram for each combination of labels.

    Args:
      name: its name.
      buckets: the buckets of the histograms.
      description: what it tells.
      *labels: the names of the labels.
    """

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str):
        super().__init__(name, description, *labels)
        self._limits = buckets.buckets

    def _new_cell(self) -> SamplerCell:
        return SamplerCell(self._limits)


class MonitoredTimer:
    """A context that adds the microseconds that it took to a counter.

    Args:
      cell: of the counter.
      monitored_section_name: not used.
      avoid_repetitive_counting: not used: each context has its own time.
    """

    def __init__(
        self,
        cell: CounterCell,
        monitored_section_name: str | None = None,
        avoid_repetitive_counting: bool = False,
    ):
        self.cell = cell
        self._start = 0.0

    def __enter__(self) -> MonitoredTimer:
        self._start = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self.cell.increase_by(int((time.monotonic() - self._start) * 1e6))


def monitored_timer(cell: CounterCell) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of a function whose microseconds are added to a counter.

    Args:
      cell: of the counter.
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with MonitoredTimer(cell):
                return func(*args, **kwargs)

        return timed

    return decorate
