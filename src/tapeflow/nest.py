"""tf.nest: nested structures of lists, tuples, dicts and the like."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
