"""tf.types: types for annotations."""

from tapeflow.types import experimental

__all__ = ["experimental"]
