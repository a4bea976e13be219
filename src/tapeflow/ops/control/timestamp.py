"""The time of day, as an op."""

from __future__ import annotations

import time
from types import ModuleType

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.public import public
from tapeflow.ops.table import op


@op("Timestamp", "-> ts: float64", shape=lambda call: [()], stateful=True)
def Timestamp(xp: ModuleType):
    return np.float64(time.time())


Timestamp.gradient(None)
Timestamp.compiled(never="its result differs from run to run")


@api("timestamp")
@public
def timestamp(name: str | None = None) -> Tensor:
    """Seconds since the epoch, a float64 scalar."""
    return Timestamp()
