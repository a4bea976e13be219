"""`tf.profiler`."""

from tapeflow.profiler import experimental

__all__ = ["experimental"]
