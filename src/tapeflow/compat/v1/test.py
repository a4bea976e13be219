"""`tf.test` with the functions of 1.x: numeric checks of gradients in graphs."""

from typing import Any

from tapeflow import test as _test
from tapeflow.v1.gradient_checks import compute_gradient, compute_gradient_error


def __getattr__(name: str) -> Any:
    return getattr(_test, name)


def __dir__() -> list[str]:
    return sorted({*dir(_test), "compute_gradient", "compute_gradient_error"})


__all__ = ["compute_gradient", "compute_gradient_error"]
