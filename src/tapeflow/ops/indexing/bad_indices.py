"""What `bad_indices_policy` asks for: rows of indices that lie outside are left out instead of being an error."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array import layout
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.math import casting, choice, comparison, logic, reductions


def _inside(indices: Any, shape: Any) -> Any:
    """Which rows of `indices` are places in `shape`, a vector."""
    limits = casting.cast(shape[: indices.shape[-1]], indices.dtype)
    fits = logic.logical_and(
        comparison.greater_equal(indices, casting.cast(0, indices.dtype)), comparison.less(indices, limits)
    )
    return reductions.reduce_all(fits, -1)


def gathered(row: Any, params: Any, indices: Any) -> Any:
    """`row(params, indices)` with zeros for bad indices. Raises ValueError for unknown ranks."""
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    count = indices.shape.as_list()[-1] if indices.shape.rank else None
    if params.shape.rank is None or count is None:
        raise ValueError('bad_indices_policy="IGNORE" needs known ranks of params and indices')
    inside = _inside(indices, Shape(params))
    places = choice.where(layout.expand_dims(inside, -1), indices, casting.cast(0, indices.dtype))
    for _ in range(params.shape.rank - count):
        inside = layout.expand_dims(inside, -1)
    found = row(params, places)
    return choice.where(inside, found, zeros([], found.dtype))


def scattered(row: Any, indices: Any, updates: Any, shape: Any) -> Any:
    """`row(indices, updates)` without bad indices and what they would write into a tensor of `shape`."""
    indices, updates = convert_to_tensor(indices), convert_to_tensor(updates)
    inside = _inside(indices, shape)
    return row(boolean_mask(indices, inside), boolean_mask(updates, inside))
