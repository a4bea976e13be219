"""Jacobians: the gradients of every element of a target, from one playback of the tape for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import Reshape, expand_dims
from tapeflow.ops.array.stacking import Pack, unstack
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.static import as_shape, product, size_of, sizes_of

# From so many rows on, one playback for all costs less than one for each row: at once it has to be traced first (about
# a millisecond, where a row costs about 10 microseconds); in a graph each row would be as many nodes.
_MANY = 100
_MANY_IN_GRAPHS = 4

# A playback: from the weights of the target's elements to the gradients of the sources, None where there are none.
Playback = Callable[[Any], Sequence[Any]]


def jacobian(play: Playback, target: Any, sources: Sequence[Any]) -> list[Any]:
    """For each source the derivatives of each element of `target`: `[*target.shape, *source.shape]`, or None."""
    sizes = sizes_of(target)
    count = product(sizes)
    weights = Reshape(eye(count, dtype=target.dtype), as_shape([count, *sizes]))
    found = _each_row(play, weights, target, sources)
    return [
        None if rows is None else Reshape(rows, as_shape([*sizes, *_sizes_behind(rows)])) for rows in found
    ]


def batch_jacobian(play: Playback, target: Any, source: Any) -> Any:
    """The derivatives of each `target[i]` by `source[i]`: `[batch, *target.shape[1:], *source.shape[1:]]`.

    They are zeros where the target does not depend on the source, as in TensorFlow.

    Raises ValueError where first dimensions differ.
    """
    known = target.shape.with_rank_at_least(2)[0], source.shape.with_rank_at_least(2)[0]
    if None not in known and known[0] != known[1]:
        raise ValueError(
            f"Need first dimension of target shape ({known[0]}) and source shape ({known[1]}) to match."
        )
    batch, *inner = sizes_of(target)
    count = product(inner)
    one_each = broadcast_to(expand_dims(eye(count, dtype=target.dtype), 1), as_shape([count, batch, count]))
    weights = Reshape(one_each, as_shape([count, batch, *inner]))
    (columns,) = _each_row(play, weights, target, [source])
    if columns is None:
        return zeros(as_shape([batch, *inner, *sizes_of(source)[1:]]), target.dtype)
    columns = transpose(columns, [1, 0, *range(2, columns.shape.rank)])
    return Reshape(columns, as_shape([batch, *inner, *_sizes_behind(columns)[1:]]))


def _sizes_behind(rows: Any) -> list[Any]:
    return sizes_of(rows)[1:]


def _each_row(play: Playback, weights: Any, target: Any, sources: Sequence[Any]) -> list[Any]:
    """For each source the gradients for every row of weights, stacked; None where there are none."""
    count = weights.shape[0]
    if count == 0:
        return [zeros([0, *source.shape.as_list()], source.dtype) for source in sources]
    if count is None or count >= (_MANY if context.executing_eagerly() else _MANY_IN_GRAPHS):
        found = _at_once(play, weights, target)
        if found is not None:
            return found
        if count is None:
            raise ValueError(f"The number of elements of the target has to be known here; its shape is {target.shape}.")
    rows = [play(row) for row in unstack(weights)]
    return [
        None if any(x is None for x in column) else Pack([_dense(x) for x in column])
        for column in zip(*rows, strict=True)
    ]


def _at_once(play: Playback, weights: Any, target: Any) -> list[Any] | None:
    """`_each_row` from one playback; None where that cannot be."""
    from tapeflow.autodiff import batched_graph  # here, as few programs ask for Jacobians

    connected: list[bool] = []

    def gradients(weight: Any) -> list[Any]:
        found = list(play(weight))
        connected.extend(x is not None for x in found)
        return [_dense(x) for x in found if x is not None]

    size = size_of(weights, 0)
    try:
        found = iter(batched_graph.outputs("jacobian", gradients, [target], [weights], size))
    except Exception:  # a gradient that needs values, or has effects: what is an error is one row by row as well
        return None
    return [next(found) if there else None for there in connected]


def _dense(gradient: Any) -> Any:
    return gradient.to_dense() if isinstance(gradient, IndexedSlices) else gradient
