"""tf.graph_util: GraphDefs."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
