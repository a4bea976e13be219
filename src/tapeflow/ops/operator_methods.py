"""The operators of tensors as functions: what `tf.Tensor.__add__` is, and `tf.__operators__` names.

They take whatever the public functions take, so that libraries can make them the operators of classes of their own;
`a + b` of tensors itself is native.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops import operators
from tapeflow.ops.indexing import slicing
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math import arithmetic, bitwise, comparison, division, elementwise, logic


@api("__operators__.add")
@tensor_function
def add(x: TensorLike, y: TensorLike, name: str | None = None):
    """`x + y`; of strings the concatenation."""
    return arithmetic.add(x, y, name=name)


_equal = operators.same(comparison.Equal, False)
_different = operators.same(comparison.NotEqual, True)


@api("__operators__.eq")
@tensor_function
def eq(self, other: TensorLike):
    """`self == other` for each element; False for values that do not broadcast. In graphs of 1.x: whether it is one."""
    if not context.compares_elements():
        return self is other
    return _equal(self, other)


@api("__operators__.ne")
@tensor_function
def ne(self, other: TensorLike):
    """`self != other` for each element; True for values that do not broadcast. In graphs of 1.x: whether it is not."""
    if not context.compares_elements():
        return self is not other
    return _different(self, other)


@api("__operators__.getitem")
@tensor_function
def getitem(tensor: TensorLike, slice_spec, var=None):
    """`tensor[slice_spec]`."""
    return slicing.getitem(tensor, slice_spec)


@api("__operators__.ragged_getitem")
@tensor_function
def ragged_getitem(rt_input, key: Any):
    """`rt_input[key]` of a ragged tensor."""
    from tapeflow.ops.ragged.getitem import (
        getitem as of_ragged,  # ragged tensors are loaded when they are used
    )

    return of_ragged(rt_input, key)


def _swapped(function: Callable[..., Any]) -> Callable[..., Any]:
    def reflected(y: Any, x: Any) -> Any:
        return function(x, y)

    return reflected


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a method: of two arguments at most."""

    def operator(*operands: Any) -> Any:
        return function(*operands)

    return operator


_BINARY: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": arithmetic.subtract,
    "mul": operators.multiply,
    "truediv": division.truediv,
    "div": division.divide,
    "floordiv": division.floordiv,
    "mod": division.floormod,
    "pow": arithmetic.pow,
    "matmul": matmul,
    "and": operators.logical(logic.logical_and, bitwise.bitwise_and),
    "or": operators.logical(logic.logical_or, bitwise.bitwise_or),
    "xor": operators.logical(logic.logical_xor, bitwise.bitwise_xor),
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
    "eq": eq,
    "ne": ne,
    "neg": elementwise.negative,
    "abs": elementwise.abs,
    "invert": operators.inverted,
    "getitem": getitem,
}


def _of_tensor(name: str) -> Callable[..., Any]:
    """A method that tensors have, for whatever converts to one."""

    def method(self: Any, *args: Any) -> Any:
        tensor = convert_to_tensor(self)
        return getattr(type(tensor), name)(tensor, *args)

    return method


def methods() -> dict[str, Callable[..., Any]]:
    """The operators by the names of their methods."""
    found = {f"__{name}__": _plain(function) for name, function in {**_BINARY, **_OTHERS}.items()}
    found.update((f"__r{name}__", _swapped(function)) for name, function in _BINARY.items())
    found.update((f"__{name}__", _of_tensor(f"__{name}__")) for name in ("bool", "iter", "len", "array"))
    found["__nonzero__"] = found["__bool__"]
    for name, method in found.items():
        method.__name__ = method.__qualname__ = name
        method.__doc__ = f"The operator `{name}` of tensors, for whatever converts to one."
    return found

