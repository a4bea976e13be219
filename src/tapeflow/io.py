"""tf.io: files, records, and tensors from bytes."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__, gfile="tapeflow.gfile")
