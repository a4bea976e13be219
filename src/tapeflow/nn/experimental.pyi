# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.nn.dropout import general_dropout as general_dropout
from tapeflow.ops.nn.dropout import stateless_dropout as stateless_dropout
__all__ = [
    "general_dropout",
    "stateless_dropout",
]
