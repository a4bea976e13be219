"""`tf.profiler` of 1.x: what the operations of a graph have and cost."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
