"""`tf.test` with the functions of 1.x: numeric checks of gradients in graphs."""

from typing import Any

from tapeflow import test as _test
from tapeflow.testing.graph_comparison import assert_equal_graph_def_v1 as assert_equal_graph_def
from tapeflow.testing.stubs import StubOutForTesting
from tapeflow.v1.gradient_checks import compute_gradient, compute_gradient_error


def __getattr__(name: str) -> Any:
    return getattr(_test, name)


def __dir__() -> list[str]:
    return sorted({*dir(_test), *__all__})


__all__ = ["StubOutForTesting", "assert_equal_graph_def", "compute_gradient", "compute_gradient_error"]
