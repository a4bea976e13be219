"""tf.lookup.experimental: tables that grow."""

from tapeflow.ops.lookup import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
