# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.linalg.conjugate_gradient import conjugate_gradient as conjugate_gradient
__all__ = [
    "conjugate_gradient",
]
