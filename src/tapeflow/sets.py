"""tf.sets: sets along the last dimension of dense and sparse tensors."""

from tapeflow.ops.sparse.sets import difference, intersection, size, union

__all__ = ["difference", "intersection", "size", "union"]
