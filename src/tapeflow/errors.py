"""tf.errors: the errors of operations, one class for each status code."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
