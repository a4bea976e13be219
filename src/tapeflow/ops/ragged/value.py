"""Ragged tensors as arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.public import boundaries


class RaggedTensorValue:
    """The parts of a ragged tensor as arrays: what a session gives and takes for one."""

    __slots__ = ("_row_splits", "_values")

    def __init__(self, values, row_splits):
        if not isinstance(row_splits, (np.ndarray, np.generic)) or row_splits.dtype not in (
            np.int32,
            np.int64,
        ):
            raise TypeError(f"row_splits must be int32 or int64 numpy array, got {row_splits!r}")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(f"values must be convertible to a numpy array, got {values!r}")
        self._values, self._row_splits = values, row_splits

    row_splits = property(lambda self: self._row_splits, doc="Where rows begin and end.")
    values = property(lambda self: self._values, doc="The values of all rows.")
    dtype = property(lambda self: self._values.dtype, doc="The NumPy type of the values.")

    @property
    def flat_values(self):
        """The values inside of all ragged dimensions."""
        out = self._values
        while isinstance(out, RaggedTensorValue):
            out = out.values
        return out

    @property
    def nested_row_splits(self):
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *rest)

    @property
    def ragged_rank(self):
        """How many dimensions are ragged."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """The shape as a tuple, None for ragged dimensions."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self):
        """The values as nested lists."""
        inner = self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(self._row_splits)]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def rows_as_array(flat: Any, splits: np.ndarray, places: Sequence[int] | None = None) -> np.ndarray:
    """The rows of values as an array: of objects (arrays), where their lengths differ.

    Args:
      flat: the values, an array.
      splits: where rows begin and end, a vector.
      places: the rows that an array of objects is to have, those at other places being None; None: all.
    """
    lengths, cell = np.diff(splits), np.shape(flat)[1:]
    if not len(lengths):
        return np.zeros((0, 0, *cell), np.asarray(flat).dtype)
    if (lengths == lengths[0]).all():
        return np.array(flat[splits[0] : splits[-1]]).reshape(len(lengths), lengths[0], *cell)
    out = np.empty(len(lengths), object)
    for i in range(len(lengths)) if places is None else places:
        out[i] = flat[splits[i] : splits[i + 1]]
    return out


boundaries(globals())
