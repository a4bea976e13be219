"""tf.image: images resized, cropped, coloured, changed at random, compared, decoded and encoded."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
