"""tf.graph_util: GraphDefs."""

from tapeflow.graph.interchange.importing import import_graph_def

__all__ = ["import_graph_def"]
