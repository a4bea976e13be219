"""`tf.__operators__`: the operators of tensors that are no public functions besides."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
