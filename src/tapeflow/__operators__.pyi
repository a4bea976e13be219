# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.operator_methods import add as add
from tapeflow.ops.operator_methods import eq as eq
from tapeflow.ops.operator_methods import getitem as getitem
from tapeflow.ops.operator_methods import ne as ne
from tapeflow.ops.operator_methods import ragged_getitem as ragged_getitem
__all__ = [
    "add",
    "eq",
    "getitem",
    "ne",
    "ragged_getitem",
]
