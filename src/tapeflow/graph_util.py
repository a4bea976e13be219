"""tf.graph_util: GraphDefs."""

from tapeflow.graph.importing import import_graph_def

__all__ = ["import_graph_def"]
