# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.types import experimental as experimental
__all__ = [
    "experimental",
]
