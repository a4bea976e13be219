"""tf.random.experimental: names that have not all moved up to tf.random."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
