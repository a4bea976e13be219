# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.sparse.sets import difference as difference
from tapeflow.ops.sparse.sets import intersection as intersection
from tapeflow.ops.sparse.sets import size as size
from tapeflow.ops.sparse.sets import union as union
__all__ = [
    "difference",
    "intersection",
    "size",
    "union",
]
