"""Options of strategies; none of them changes results."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from tapeflow.core.public import boundaries

__all__ = ["CommunicationImplementation", "CommunicationOptions", "RunOptions"]


class CommunicationImplementation(enum.Enum):
    """How values travel between machines."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclass(init=False)
class CommunicationOptions:
    """How values travel between machines; with one process, none of it counts.

    Args:
      bytes_per_pack: how many bytes travel together; 0 for any.
      timeout_seconds: after how long to give up; None for never.
      implementation: a `CommunicationImplementation`, or its name.

    Raises:
      ValueError: for a negative number of bytes, and an unknown name.
    """

    bytes_per_pack: int
    timeout_seconds: float | None
    implementation: CommunicationImplementation

    def __init__(
        self, bytes_per_pack: int = 0, timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ):  # fmt: skip
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        self.bytes_per_pack, self.timeout_seconds = bytes_per_pack, timeout_seconds
        self.implementation = implementation


@dataclass
class RunOptions:
    """How `Strategy.run` runs; none of it changes results.

    Args:
      experimental_enable_dynamic_batch_size: whether sizes of batches may change.
      experimental_bucketizing_dynamic_shape: whether changing sizes are rounded up.
      experimental_xla_options: options of the compiler, or None.
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


boundaries(globals())
