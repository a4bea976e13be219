"""Tensors that behave more like NumPy's arrays."""

from __future__ import annotations

from tapeflow import _native
from tapeflow.core import numpy_hints, promotion
from tapeflow.core.log import get_logger
from tapeflow.core.public import public
from tapeflow.experimental.numpy import tensor_methods
from tapeflow.ops.indexing import slicing
from tapeflow.ops.math.casting import Cast


@public
def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Give tensors methods and indexing of NumPy's arrays, and promote dtypes implicitly, in the whole program.

    Args:
      prefer_float32: Python floats count as float32 in the mode "legacy".
      dtype_conversion_mode: "off" promotes nothing, "legacy" the operands of operators by NumPy's rules, "all" those
        of the functions behind them as well, by rules under which Python numbers give way to tensors, and "safe" as
        "all" but with a TypeError where width or precision may be lost.

    Raises ValueError for another mode.
    """
    mode = promotion.parse_mode(dtype_conversion_mode)
    if mode in (promotion.PromoMode.SAFE, promotion.PromoMode.ALL):
        get_logger().warning(
            "The new type promotion is to be enabled at the beginning of a program, before any other use of the API."
        )
    promotion.enable(mode, prefer_float32, Cast, tensor_methods.product)
    for name, method in tensor_methods.METHODS.items():
        setattr(_native.Tensor, name, method)
    _native.set_hook("getitem", tensor_methods.getitem)


def _reset() -> None:
    """Back to how a program starts, for tests."""
    promotion.enable(promotion.PromoMode.OFF, False, Cast, tensor_methods.product)
    for name in tensor_methods.METHODS:
        if name in vars(_native.Tensor):
            delattr(_native.Tensor, name)
    numpy_hints.set_hints()
    _native.set_hook("getitem", slicing.getitem)


__all__ = ["experimental_enable_numpy_behavior"]
