"""tf.lookup.experimental: tables that grow."""

from tapeflow.ops.lookup.tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
