"""Tensors that stay in a session between runs: `get_session_handle` and related functions (1.x)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, public_methods
from tapeflow.graph.build import building
from tapeflow.ops.signature import dtype
from tapeflow.ops.state.resource_op import handle_of, resource_op

_numbers = itertools.count()
# The tensors by the names of their handles.
_kept: dict[str, Any] = {}


@public_methods
class TensorHandle:
    """A tensor that was left in a session; it goes when its handle does.

    Attributes:
      handle: its name, to be fed to `get_session_tensor`.
    """

    def __init__(self, tensor):
        self._name = f"{next(_numbers)};{tensor.dtype.name}"
        self._dtype = tensor.dtype
        _kept[self._name] = tensor

    @property
    def handle(self):
        return self._name

    def get_raw_handle(self):
        """The name; the tensor stays when this object goes."""
        self._released = True
        return self._name

    def eval(self):
        """The value. Raises TypeError after `delete`."""
        return _found(self._name).numpy()

    def to_numpy_array(self):
        """The value."""
        return self.eval()

    def delete(self):
        """Lets the tensor go."""
        _kept.pop(self._name, None)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.eval(), dtype)

    def __str__(self):
        return self._name

    def __del__(self):
        if not getattr(self, "_released", False):
            _kept.pop(getattr(self, "_name", ""), None)


def _found(name: str) -> Any:
    if name not in _kept:
        raise InvalidArgumentError(
            None, None, f"The tensor with handle '{name}' is not in the session store."
        )
    return _kept[name]


def _name_of(handle: Any) -> str:
    value = handle.numpy()
    return value.decode() if isinstance(value, bytes) else str(value)


@resource_op("GetSessionHandleV2", "value: T -> handle: resource", {"T": dtype}, lambda attrs, inputs: [()])
def GetSessionHandleV2(value: Array, T: DType):
    return handle_of(TensorHandle(value))


@resource_op("GetSessionTensor", "handle: string -> value: dtype", {"dtype": dtype}, touches="process")
def GetSessionTensor(handle: Array, dtype):
    found = _found(_name_of(handle))
    if found.dtype != dtype:
        raise InvalidArgumentError(
            None, None, f"The tensor with this handle is {found.dtype.name}, not {dtype.name}"
        )
    return found


@resource_op("DeleteSessionTensor", "handle: string ->", touches="process")
def DeleteSessionTensor(handle: Array):
    name = _name_of(handle)
    _found(name)
    del _kept[name]


def taken(value: Any) -> Any:
    """What a session gives for a fetched resource: the handle of a tensor left in it, else the resource itself."""
    found = value.numpy()
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found[()]
    return found if isinstance(found, TensorHandle) else value


@api(v1="get_session_handle")
@public
def get_session_handle(data: TensorLike, name: str | None = None):
    """A tensor whose fetched value is a handle of `data`'s: it stays in the session. Raises TypeError for no tensor."""
    if not isinstance(data, _native.Tensor):
        raise TypeError("`data` must be of type Tensor.")
    return GetSessionHandleV2(data, T=data.dtype.base_dtype, name=name)


@api(v1="get_session_tensor")
@public
def get_session_tensor(handle, dtype: DTypeLike, name: str | None = None):
    """(placeholder, tensor): the tensor is what the handle fed to the placeholder stands for.

    Args:
      handle: the handle, a string.
      dtype: the dtype of the tensor.
      name: a name for the operation (optional).
    """
    holder = building.placeholder(context.current_graph(), dtypes.string, (), "holder")
    return holder, GetSessionTensor(holder, dtype=dtypes.as_dtype(dtype), name=name)


@api(v1="delete_session_tensor")
@public
def delete_session_tensor(handle, name: str | None = None):
    """(placeholder, operation): the operation lets the tensor go whose handle is fed to the placeholder."""
    holder = building.placeholder(context.current_graph(), dtypes.string, (), "holder")
    return holder, DeleteSessionTensor(holder, name=name)
