"""tf.types.experimental: types for annotations."""

from typing import Any

# Whatever `tf.convert_to_tensor` takes.
TensorLike = Any

__all__ = ["TensorLike"]
