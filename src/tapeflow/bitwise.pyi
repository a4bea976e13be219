# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.math.bitwise import bitwise_and as bitwise_and
from tapeflow.ops.math.bitwise import bitwise_or as bitwise_or
from tapeflow.ops.math.bitwise import bitwise_xor as bitwise_xor
from tapeflow.ops.math.bitwise import invert as invert
from tapeflow.ops.math.bitwise import left_shift as left_shift
from tapeflow.ops.math.bitwise import right_shift as right_shift
__all__ = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "left_shift",
    "right_shift",
]
