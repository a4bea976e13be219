"""Ops that make and destroy variables by name, as programs do that call the ops themselves."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.core import context, errors
from tapeflow.core.annotations import Array, ShapeLike
from tapeflow.core.dtypes import DType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import declare
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype, strings
from tapeflow.ops.signature import shape as shape_attr
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.table import op

# Variables that live until they are destroyed, by container and name.
_named: dict[tuple[str, str], Any] = {}


@op(
    "VarHandleOp",
    "-> resource: resource",
    attrs={"container": "", "shared_name": "", "debug_name": "", "dtype": dtype, "shape": shape_attr,
           "allowed_devices": strings([])},
    shape=shapes.scalar,
    stateful=True,
    effects=False,
)
def VarHandleOp(
    xp: ModuleType, container: str, shared_name: str, debug_name: str, dtype: DType, shape: ShapeLike,
    allowed_devices: Sequence[str],
):
    with context.eager_mode():
        name = shared_name or f"anonymous{len(_named)}"
        found = _named.get((container, name))
        if found is None:
            found = Variable.__new__(Variable)
            declare(found, dtype, True, TensorShape(shape))
            found.name = f"{name}:0"
            _named[container, name] = found
        elif found.dtype != dtype:
            raise errors.InvalidArgumentError(
                None, None, f"Variable {name} has dtype {found.dtype.name}, not {dtype.name}"
            )
        return found.handle.numpy() if found.handle.numpy().__class__ is np.ndarray else _box(found.handle.numpy())


def _box(value: Any) -> np.ndarray:
    box = np.empty((), object)
    box[()] = value
    return box


VarHandleOp.gradient(None)
# What is known of the variable behind the handle.
VarHandleOp.handle = lambda attrs: (TensorShape(attrs["shape"]), attrs["dtype"])


@op(
    "DestroyResourceOp",
    "resource: resource ->",
    attrs={"ignore_lookup_error": True},
    shape=shapes.fixed(),
    stateful=True,
)
def DestroyResourceOp(xp: ModuleType, resource: Array, ignore_lookup_error: bool):
    for key, variable in list(_named.items()):
        if variable is resource:
            del _named[key]
            return
    if not ignore_lookup_error:
        raise errors.NotFoundError(None, None, "Resource does not exist.")


DestroyResourceOp.gradient(None)
