"""Gradients that touch only some rows of a variable."""

from __future__ import annotations

from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.segment import unsorted_segment_sum
from tapeflow.ops.selection import unique


def without_duplicates(gradient):
    """(values, indices) of IndexedSlices, the values of equal indices added up."""
    positions, where = unique(gradient.indices)
    values = unsorted_segment_sum(gradient.values, where, positions.shape[0])
    return values, positions


def is_sparse(gradient):
    """Whether a gradient is IndexedSlices."""
    return isinstance(gradient, IndexedSlices)
