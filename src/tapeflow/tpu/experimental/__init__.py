"""`tf.tpu.experimental`: the topology of TPUs, which of their cores a computation uses, and embeddings."""

import importlib
from typing import Any

from tapeflow.tpu.device_assignment import DeviceAssignment, DeviceOrderMode
from tapeflow.tpu.system import (
    HardwareFeature,
    TPUSystemMetadata,
    initialize_tpu_system,
    shutdown_tpu_system,
)
from tapeflow.tpu.topology import Topology

__all__ = [
    "DeviceAssignment", "DeviceOrderMode", "HardwareFeature", "TPUSystemMetadata", "Topology", "embedding",
    "initialize_tpu_system", "shutdown_tpu_system",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "embedding":
        return importlib.import_module("tapeflow.tpu.experimental.embedding")
    raise AttributeError(f"module 'tapeflow.tpu.experimental' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
