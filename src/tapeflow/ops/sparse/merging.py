"""The places of two sparse tensors merged, and samples of bad ones."""

from __future__ import annotations

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.sparse.parts import ordered_runs
from tapeflow.ops.sparse.rows import INDICES, SHAPE
from tapeflow.ops.table import Sample


def bad_parts(*rest):
    """Samples of parts that make no sparse tensor, with what follows them."""
    values = np.ones(4)
    for parts in ((INDICES, values[:2], SHAPE), (INDICES[0], values, SHAPE), (INDICES + 9, values, SHAPE),
                  (INDICES, values[None], SHAPE)):  # fmt: skip
        yield Sample(*parts, *rest, raises=InvalidArgumentError)

# Sum of two


def merged(a_indices, b_indices):
    """(indices of the union in order, which of them each of a is, the same of b)."""
    both = np.concatenate([a_indices, b_indices])
    by, firsts, runs = ordered_runs(both)
    back = np.zeros(len(both), np.int64)
    back[by] = runs
    return both[by[firsts]], back[: len(a_indices)], back[len(a_indices) :]


OTHER = np.array([[0, 1], [0, 3], [2, 0], [2, 2]])
