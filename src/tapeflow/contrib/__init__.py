"""`tf.contrib`: the parts that eager programs use."""

from tapeflow.contrib import eager, summary

__all__ = ["eager", "summary"]
