"""`tf.linalg` with the names and signatures of 1.x."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__, experimental="tapeflow.linalg.experimental")
