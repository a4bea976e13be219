"""tf.compat.v1.graph_util: GraphDefs and their parts."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
