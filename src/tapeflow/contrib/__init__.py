"""`tf.contrib`: the parts that eager programs use."""

from tapeflow.contrib import eager

__all__ = ["eager"]
