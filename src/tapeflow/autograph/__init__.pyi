# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.autograph import experimental as experimental
from tapeflow.function.autograph.convert import to_code as to_code
from tapeflow.function.autograph.convert import to_graph as to_graph
from tapeflow.function.autograph.verbosity import set_verbosity as set_verbosity
from tapeflow.function.autograph.verbosity import trace as trace
__all__ = [
    "experimental",
    "set_verbosity",
    "to_code",
    "to_graph",
    "trace",
]
