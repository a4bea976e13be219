"""Variables that a parameter server holds, as other processes see them: each operation on one is sent there.

To the core such a variable is one on a device that is not the host: its cell holds an empty tensor of that device, so
that no native kernel touches it, and every operation comes to `calls`.
"""

from __future__ import annotations

import functools
import itertools
import os
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import declare, dtype_of, shape_of, shared_name_of
from tapeflow.distribute.parameter_servers.connection import Connection
from tapeflow.ops.state import rows
from tapeflow.ops.state.variable import Variable, VariableAggregation, VariableSynchronization

# The index of the device that these variables are on, which is that of no accelerator.
_ELSEWHERE = 127
_numbers = itertools.count()


class Description(NamedTuple):
    """What other processes have to know of a variable.

    Attributes:
      key: its number on its server.
      server: the number of the server.
      dtype: the name of its dtype.
      shape: the sizes that values may have; None where unknown.
      name: its name.
      trainable: whether tapes watch it.
    """

    key: int
    server: int
    dtype: str
    shape: list[int | None] | None
    name: str
    trainable: bool


class _Absent:
    """What is in the place of the elements of a tensor that is elsewhere."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape, self.dtype = shape, dtype


class RemoteVariable(Variable):
    """The part of a variable's class that says that a server holds the value.

    Attributes:
      connection: the server.
      description: what other processes have to know.
    """

    # Reading is an operation, not a look into the cell.
    _reads_by_class = True

    connection: Connection
    description: Description

    def read_value(self) -> Any:
        """The value as it is now."""
        if not context.executing_eagerly():
            return super().read_value()
        return rows.ReadVariableOp(self, dtype=self._dtype)

    def numpy(self) -> Any:
        """The value as an array."""
        with _native.PausedTapes():
            return self.read_value().numpy()

    def _set(self, value: Any) -> None:
        rows.AssignVariableOp(self, value)

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """The rows of the value at `indices`, which alone travel."""
        return rows.ResourceGather(self, indices, dtype=self._dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape that values have."""
        return self._declared

    @property
    def device(self) -> str:
        """The name of the server's device."""
        return f"/job:ps/replica:0/task:{self.connection.index}/device:CPU:0"

    def colocated(self) -> Any:
        """A context in which new variables go to the same server."""
        return self.connection.colocated()


class _ReadByMethod(RemoteVariable):
    """Of variables whose `value()` is the value."""

    def value(self) -> Any:
        """The value as it is now."""
        return self.read_value()


class _ReadByCall(RemoteVariable):
    """Of variables whose `value` is the variable itself: the core calls `value` for the value."""

    value = property(lambda self: self)

    def __call__(self) -> Any:
        return self.read_value()


@functools.cache
def _remote(kind: Any) -> Any:
    """The class of variables of a subclass of `Variable` that are elsewhere."""
    base = _ReadByCall if isinstance(getattr(kind, "value", None), property) else _ReadByMethod
    metaclass: Any = type(kind)
    return metaclass(kind.__name__, (base, kind), {"__module__": kind.__module__})


def moved(variable: Variable, connection: Connection) -> Any:
    """A variable that a server holds, with all that is known of one of this process, which is dropped.

    Args:
      variable: a variable with a value.
      connection: the server.
    """
    declared, name, value = shape_of(variable), shared_name_of(variable), variable.numpy()
    # Numbers of several programs, or of one after the other, must differ.
    key = os.getpid() << 32 | next(_numbers)
    sizes = None if declared.rank is None else declared.as_list()
    known = Description(key, connection.index, dtype_of(variable).name, sizes, name, bool(variable.trainable))
    connection.create(known, value)
    made = _made(_remote(type(variable)), known, connection, np.shape(value))
    made.__dict__.update({**variable.__dict__, "_declared": declared})
    weakref.finalize(made, connection.forget, key).atexit = False
    return made


def described(known: Description, connection: Connection) -> Any:
    """A variable that a server holds already."""
    made = _made(_remote(Variable), known, connection, [size or 0 for size in known.shape or ()])
    made.name = f"{known.name}:0"
    made.constraint = None
    made.synchronization, made.aggregation = VariableSynchronization.AUTO, VariableAggregation.NONE
    return made


def _made(kind: Any, known: Description, connection: Connection, sizes: Sequence[int]) -> Any:
    dtype: DType = as_dtype(known.dtype)
    made = kind.__new__(kind)
    declare(made, dtype, known.trainable, TensorShape(known.shape))
    absent = _Absent(tuple(sizes), np.dtype(dtype.as_numpy_dtype))
    super(RemoteVariable, made)._set(_native.device_tensor(absent, dtype.as_datatype_enum, _ELSEWHERE))
    made.__dict__["connection"], made.__dict__["description"] = connection, known
    return made
