# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.profiler import experimental as experimental
__all__ = [
    "experimental",
]
