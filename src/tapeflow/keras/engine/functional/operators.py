"""Operators of symbolic tensors, and what the layers that they make are called in Keras 2 and in Keras 3."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tapeflow.keras.registry import snake_case

# Of each function of the `operator` module: the public function that Keras 2 calls, and the one of `keras.ops` that
# Keras 3 does. Where Keras 2 has no public function, configs name the operator itself.
FUNCTIONS = {
    operator.add: ("__operators__.add", "add"),
    operator.sub: ("math.subtract", "subtract"),
    operator.mul: ("math.multiply", "multiply"),
    operator.truediv: ("math.truediv", "true_divide"),
    operator.floordiv: ("compat.v1.floor_div", "floor_divide"),
    operator.mod: ("math.floormod", "mod"),
    operator.pow: ("math.pow", "power"),
    operator.matmul: ("linalg.matmul", "matmul"),
    operator.lt: ("math.less", "less"),
    operator.le: ("math.less_equal", "less_equal"),
    operator.gt: ("math.greater", "greater"),
    operator.ge: ("math.greater_equal", "greater_equal"),
    operator.ne: ("math.not_equal", "not_equal"),
    operator.and_: ("math.logical_and", "logical_and"),
    operator.or_: ("math.logical_or", "logical_or"),
    operator.xor: ("__operators__.xor", "logical_xor"),
    operator.neg: ("math.negative", "negative"),
    operator.abs: ("math.abs", "absolute"),
    operator.invert: ("math.logical_not", "logical_not"),
    operator.getitem: ("__operators__.getitem", "get_item"),
}

_ACRONYMS = frozenset((
    "ctc", "fft", "fft2", "hsv", "ifft2", "irfft", "istft", "jvp", "psnr", "rfft", "rgb", "ssim", "stft", "svd",
))  # fmt: skip
# Classes whose names the names of their functions do not give.
_IRREGULAR = {"allclose": "AllClose", "cdist": "CDist", "isin": "IsIn", "searchsorted": "SearchSorted"}


def class_name(function: Callable[..., Any]):
    """The name of the class of Keras 3 whose calls are calls of a function of `keras.ops`, as "ExpandDims"."""
    name = function.__name__
    words = name.split("_")
    regular = "".join(word.upper() if word in _ACRONYMS else word.capitalize() for word in words)
    return _IRREGULAR.get(name, regular)


def layer_name(function):
    """What the first call of a function of `keras.ops` is called, as "expand_dims"."""
    return snake_case(class_name(function))
