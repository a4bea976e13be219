"""How much memory tensors take when an operation runs."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from tapeflow import _native
from tapeflow.ops import shapes
from tapeflow.ops.table import op

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse"]

_REMOVED = "TensorFlow had the op, and has removed it"


@op("BytesInUse", "-> out: int64", shape=shapes.scalar, stateful=True, only_here=_REMOVED)
def _in_use(xp: ModuleType):
    return np.int64(_native.allocator_stats()["live"])


@op("MaxBytesInUse", "-> out: int64", shape=shapes.scalar, stateful=True, only_here=_REMOVED)
def _peak(xp: ModuleType):
    return np.int64(_native.allocator_stats()["peak"])


@op("BytesLimit", "-> out: int64", shape=shapes.scalar, stateful=True, only_here=_REMOVED)
def _limit(xp: ModuleType):
    return np.int64(np.iinfo(np.int64).max)


for _row in (_in_use, _peak, _limit):
    _row.gradient(None)
    _row.compiled(never="its result differs from run to run")


def BytesInUse():
    """The bytes that tensors take now, an int64 scalar."""
    return _in_use()


def BytesLimit():
    """The bytes that tensors may take, an int64 scalar; the largest number, since the host sets no limit."""
    return _limit()


def MaxBytesInUse():
    """The most bytes that tensors have taken at a time, an int64 scalar."""
    return _peak()
