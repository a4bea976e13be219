"""tf.config.experimental: memory of devices, their policy, precision."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
