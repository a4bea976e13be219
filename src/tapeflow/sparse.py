"""tf.sparse: tensors of which only the elements that are not zero are kept."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
