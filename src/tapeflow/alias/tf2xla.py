"""`tensorflow.compiler.tf2xla.python.xla`: operations of XLA that libraries call by themselves."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import meshgrid
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.slicing import slice_ as slice
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.math.clip import clip_by_value


def _within(x: Any, starts: Any, sizes: Any) -> Any:
    """The starts of a slice, moved so that the whole of it is inside."""
    whole = shape(x, out_type=starts.dtype)
    return clip_by_value(starts, 0, whole - convert_to_tensor(sizes, starts.dtype))


def dynamic_slice(x: Any, starts: Any, sizes: Any) -> Any:
    """A slice of given sizes; one that would end outside of `x` begins earlier."""
    x, starts = convert_to_tensor(x), convert_to_tensor(starts)
    return slice(x, _within(x, starts, sizes), sizes)


def dynamic_update_slice(x: Any, update: Any, indices: Any) -> Any:
    """`x` with `update` in the place of a slice; one that would end outside of `x` begins earlier."""
    x, update, starts = convert_to_tensor(x), convert_to_tensor(update), convert_to_tensor(indices)
    sizes = shape(update, out_type=starts.dtype)
    begin = _within(x, starts, sizes)
    rank = update.shape.rank
    if rank == 0:
        return update
    axes = [range_(sizes[i]) + begin[i] for i in range(rank)]
    places = stack(meshgrid(*axes, indexing="ij"), axis=-1)
    return tensor_scatter_nd_update(x, reshape(places, [-1, rank]), reshape(update, [-1]))
