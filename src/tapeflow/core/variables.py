"""What the package asks of tensors and variables beside their public attributes: classes of users may show others."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from tapeflow import _native
from tapeflow.core import dtypes


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[Any] = []


creators = _Creators()  # the functions that make the variables of a block, see `variable_creator_scope`


def dtype_of(x: Any) -> Any:
    """The DType of a tensor or variable, whatever its class shows as `dtype`: Keras shows names, 1.x references."""
    return x._dtype


def shape_of(x: Any) -> Any:
    """The TensorShape of a tensor or variable, whatever its class shows as `shape`: Keras 3 shows tuples."""
    return x._shape


def graph_parts(variable: Any) -> Any:
    """The nodes of a variable of a graph, see `graph.build.variables.Parts`; None for one with a value of its own."""
    return variable._parts


def shared_name_of(variable: Any) -> str:
    """The name of a variable in checkpoints and graphs, without the `:0` that `name` ends in."""
    name: str = variable._shared_name
    return name


def is_set(variable: Any) -> bool:
    """Whether a variable has a value yet."""
    found: bool = variable._is_set
    return found


def has_cell(variable: Any) -> bool:
    """Whether a variable holds its value itself; else its class asks another variable for all that it has."""
    found: bool = variable._has_cell
    return found


def set_value(variable: Any, tensor: Any) -> None:
    """Put an eager tensor in the place of the value of a variable, whatever its shape."""
    variable._set(tensor)


def element_of_graph(variable: Any) -> Any:
    """The tensor of a graph that a variable is there, which may be fed."""
    return variable._as_graph_element()


def identity_of(x: Any) -> int:
    """The number by which tapes know a tensor or a variable."""
    found: int = x._id
    return found


def declare(variable: Any, dtype: Any, trainable: bool, shape: Any, parts: Any = None) -> None:
    """Give a variable that was made without a value what its values have, and its nodes if it is in a graph."""
    variable._init(dtype, trainable)
    variable._declared = shape
    if parts is not None:
        variable._parts = parts


def describe(variable: Any, given: dict[str, Any]) -> None:
    """Give a variable what it has besides its value: `full_name`, or `name` in the current scope, and the others."""
    variable._finish(given)


def variable_behind(tensor: Any) -> Any:
    """The variable behind a handle, if it has a value; None for other tensors."""
    if tensor.dtype is not dtypes.resource:
        return None
    found = tensor.numpy()
    found = found() if isinstance(found, weakref.ref) else None
    return found if isinstance(found, _native.Variable) and has_cell(found) and is_set(found) else None
