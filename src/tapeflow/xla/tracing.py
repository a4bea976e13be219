"""`Lowering`, with the functions of all nodes registered: what turns graphs into XLA's operations starts here."""

from tapeflow.xla import (
    loops,  # noqa: F401 (registers how loops are lowered)
    slices,  # noqa: F401 (registers how slices are lowered)
)
from tapeflow.xla.lowering import Lowering

__all__ = ["Lowering"]
