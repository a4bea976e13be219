"""`tf.distribute` of 1.x: its strategies under the same names."""

import importlib
from typing import Any

from tapeflow import distribute as _distribute
from tapeflow.core import replicas
from tapeflow.core.public import boundary


@boundary
def get_loss_reduction() -> Any:
    """How losses of replicas become one: by their sum in graphs, as they are divided by the number of replicas."""
    if replicas.count() == 1:
        return _distribute.ReduceOp.SUM
    return _distribute.ReduceOp.MEAN


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("tapeflow.compat.v1.distribute.experimental")
    return getattr(_distribute, name)


def __dir__() -> list[str]:
    return sorted({*dir(_distribute), "get_loss_reduction"})
