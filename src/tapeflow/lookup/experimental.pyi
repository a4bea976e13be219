# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.lookup.growing import DenseHashTable as DenseHashTable
from tapeflow.ops.lookup.growing import MutableHashTable as MutableHashTable
__all__ = [
    "DenseHashTable",
    "MutableHashTable",
]
