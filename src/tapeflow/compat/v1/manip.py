"""`tf.manip`: functions that 1.x has under this name, too."""

from tapeflow.ops.array.broadcasting import tile
from tapeflow.ops.array.gather import gather_nd_v1 as gather_nd
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.reorder import reverse, roll
from tapeflow.ops.array.scatter import scatter_nd
from tapeflow.ops.array.spatial import batch_to_space as batch_to_space_nd
from tapeflow.ops.array.spatial import space_to_batch_nd

__all__ = [
    "batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile",
]  # fmt: skip
