"""tf.io: files."""

from tapeflow.graph.writing import write_graph

__all__ = ["write_graph"]
