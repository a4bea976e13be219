# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.array.layout import reshape as reshape
from tapeflow.ops.array.reorder import reverse as reverse
from tapeflow.ops.array.reorder import roll as roll
from tapeflow.ops.array.spatial import batch_to_space as batch_to_space_nd
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch_nd
from tapeflow.ops.array.tiling import tile as tile
from tapeflow.ops.indexing.gather_nd import gather_nd_v1 as gather_nd
from tapeflow.ops.indexing.scatter import scatter_nd as scatter_nd
__all__ = [
    "batch_to_space_nd",
    "gather_nd",
    "reshape",
    "reverse",
    "roll",
    "scatter_nd",
    "space_to_batch_nd",
    "tile",
]
