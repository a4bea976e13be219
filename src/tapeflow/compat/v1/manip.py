"""`tf.manip`: functions that 1.x has under this name, too."""

from tapeflow.ops.broadcasting import tile
from tapeflow.ops.gather import gather_nd_v1 as gather_nd
from tapeflow.ops.layout import reshape
from tapeflow.ops.reorder import reverse, roll
from tapeflow.ops.scatter import scatter_nd
from tapeflow.ops.spatial import batch_to_space as batch_to_space_nd
from tapeflow.ops.spatial import space_to_batch_nd

__all__ = [
    "batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd", "tile",
]  # fmt: skip
