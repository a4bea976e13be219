# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.config import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from tapeflow.core.config import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from tapeflow.core.config import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from tapeflow.core.config import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
__all__ = [
    "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads",
    "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads",
]
