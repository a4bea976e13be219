"""`tf.sets` with the names of 1.x."""

from tapeflow.ops.sparse.sets import difference, intersection, size, union

set_difference = difference
set_intersection = intersection
set_size = size
set_union = union

__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union",
]  # fmt: skip
