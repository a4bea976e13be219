"""Gradients that touch only some rows of a variable."""

from __future__ import annotations

from tapeflow.core.annotations import Tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.math.segment_functions import unsorted_segment_sum
from tapeflow.ops.static import size_of


def without_duplicates(gradient: IndexedSlices):
    """(values, indices) of IndexedSlices, the values of equal indices added up."""
    positions, where = unique(gradient.indices)
    values = unsorted_segment_sum(gradient.values, where, size_of(positions, 0))
    return values, positions


def is_sparse(gradient: Tensor | IndexedSlices):
    """Whether a gradient is IndexedSlices."""
    return isinstance(gradient, IndexedSlices)
