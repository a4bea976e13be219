"""tf.linalg.experimental: iterative methods."""

from tapeflow.ops.linalg.conjugate_gradient import conjugate_gradient

__all__ = ["conjugate_gradient"]
