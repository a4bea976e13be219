# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.graph.interchange.importing import import_graph_def as import_graph_def
__all__ = [
    "import_graph_def",
]
