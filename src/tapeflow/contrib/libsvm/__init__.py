"""`tf.contrib.libsvm`: LIBSVM's text format."""

from tapeflow.contrib.libsvm.libsvm_ops import decode_libsvm

__all__ = ["decode_libsvm"]
