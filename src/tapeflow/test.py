"""tf.test: what there is to run on."""

from typing import Any

from tapeflow.autodiff.checker import compute_gradient
from tapeflow.core.device import gpu_device_name, is_gpu_available


def __getattr__(name: str) -> Any:
    if name == "create_local_cluster":
        from tapeflow.graph.server import create_local_cluster

        return create_local_cluster
    raise AttributeError(f"module 'tapeflow.test' has no attribute {name!r}")


def is_built_with_cuda() -> bool:
    """Whether there are kernels for NVIDIA GPUs."""
    return False


def is_built_with_gpu_support() -> bool:
    """Whether there are kernels for GPUs."""
    return False


def is_built_with_rocm() -> bool:
    """Whether there are kernels for AMD GPUs."""
    return False


def is_built_with_xla() -> bool:
    """Whether the compiler XLA is built in."""
    return False


__all__ = [
    "compute_gradient",
    "create_local_cluster",  # noqa: F822 (loaded when it is asked for)
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_gpu_available",
]
