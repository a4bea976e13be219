"""Gauges: values by labels that a library notes of itself, kept in the process."""

from __future__ import annotations

import threading


class BoolGaugeCell:
    """One value of a gauge."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = False

    def set(self, value: bool) -> None:
        """Notes a value."""
        self._value = bool(value)

    def value(self) -> bool:
        """The value that was noted last, False before."""
        return self._value


class BoolGauge:
    """A bool for each combination of labels.

    Args:
      name: its name.
      description: what it tells.
      *labels: the names of the labels.
    """

    __slots__ = ("_cells", "_labels", "_lock", "description", "name")

    def __init__(self, name: str, description: str, *labels: str):
        self.name, self.description, self._labels = name, description, labels
        self._cells: dict[tuple[str, ...], BoolGaugeCell] = {}
        self._lock = threading.Lock()

    def get_cell(self, *labels: str) -> BoolGaugeCell:
        """The cell of the values of the labels. Raises ValueError for another number of labels."""
        if len(labels) != len(self._labels):
            raise ValueError(f"The {self.name!r} gauge takes {len(self._labels)} labels, got {len(labels)}")
        with self._lock:
            return self._cells.setdefault(labels, BoolGaugeCell())
