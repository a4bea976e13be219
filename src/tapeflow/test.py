"""tf.test: what there is to run on."""

import functools
import importlib
import platform
import types
from collections.abc import Callable
from typing import Any

from tapeflow.autodiff.checker import compute_gradient
from tapeflow.core import context, device_calls
from tapeflow.core.device import gpu_device_name, is_gpu_available
from tapeflow.core.public import boundary

# What is loaded when it is first used: unittest costs time.
_LAZY_NAMES = {
    "Benchmark": "tapeflow.testing.benchmarks",
    "TestCase": "tapeflow.testing.case",
    "assert_equal_graph_def": "tapeflow.testing.graph_comparison",
    "benchmark_config": "tapeflow.testing.benchmarks",
    "create_local_cluster": "tapeflow.cluster.server",
    "get_temp_dir": "tapeflow.testing.case",
    "main": "tapeflow.testing.case",
    "test_src_dir_path": "tapeflow.testing.folders",
}


def __getattr__(name: str) -> Any:
    if name == "mock":
        return importlib.import_module("unittest.mock")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module 'tapeflow.test' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_NAMES, "mock"})


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """Return a decorator of tests that skips them where `pred` says so.

    Args:
      pred: a function without arguments, called when a test runs.
      skip_message: why the test is skipped.
    """

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return run

    return decorate


def with_eager_op_as_function(cls: type | None = None, only_as_function: bool = False) -> Any:
    """A decorator of a class of tests that leaves it as it is: eager operations have one way to run.

    Args:
      cls: the class; None where the decorator is called for its options.
      only_as_function: not used.
    """
    return (lambda decorated: decorated) if cls is None else cls


def is_cpu_target_available(target: str) -> bool:
    """Whether there are kernels for a kind of processor.

    Args:
      target: "x86", "arm", "aarch64", "ppc", "systemz" or another name of LLVM's for a kind.
    """
    machine = platform.machine().lower()
    kinds = {"x86_64": "x86", "amd64": "x86", "arm64": "aarch64"}
    return target.lower() in (machine, kinds.get(machine))


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


def sync_devices() -> None:
    """Wait until devices have finished what they were given, before a time is taken. The host always has.

    Raises:
      RuntimeError: where a graph is being built.
    """
    if not context.executing_eagerly():
        raise RuntimeError("sync_devices() must only be called in Eager mode, but tf is in Graph mode")
    if device_calls.waiter is not None:
        device_calls.waiter()


experimental = types.SimpleNamespace(sync_devices=boundary(sync_devices))

__all__ = [
    "compute_gradient",
    "disable_with_predicate",
    "experimental",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
    "with_eager_op_as_function",
]
