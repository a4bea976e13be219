"""`tf.__internal__.graph_util`: comparison of graphs."""

from tapeflow.graph.interchange.equality import graph_defs_equal

__all__ = ["graph_defs_equal"]
