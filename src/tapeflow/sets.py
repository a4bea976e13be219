"""tf.sets: sets along the last dimension of dense and sparse tensors."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
