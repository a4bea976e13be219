"""`tf.contrib.lookup`: tables under the names of before."""

from tapeflow.ops.lookup.initializers import TableInitializerBase
from tapeflow.ops.lookup.tables import LookupInterface, StaticHashTable
from tapeflow.v1.lookup import *  # noqa: F403
from tapeflow.v1.lookup import __all__ as _tables

# What an initializer fills, once.
InitializableLookupTableBase = StaticHashTable

__all__ = [*_tables, "InitializableLookupTableBase", "LookupInterface", "TableInitializerBase"]
