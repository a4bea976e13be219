"""What calls on meshes are given and return: which mesh it is, what gets onto it by itself, and the host's part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.dtensor.placed import MeshArray, mesh_array
from tapeflow.core.errors import UnimplementedError, UnknownError

# Vectors of integers and strings of fewer elements are copied to meshes by themselves.
_SMALL = 20


def common_mesh(what: str, arrays: Sequence[MeshArray | None]) -> Mesh | None:
    """The mesh of tensors, those left out that are on none. Raises UnknownError for several.

    Args:
      what: what takes them, for the error.
    """
    found = [x.layout.mesh for x in arrays if x is not None and not x.layout.mesh.is_single_device()]
    for other in found[1:]:
        if other != found[0]:
            raise UnknownError(
                None, None, f"{what}: 'tf_device.cluster' op failed during mesh propagation. All inputs to "
                f"`tf_device.Cluster` must have same mesh configuration. Found {found[0]} and {other}",
            )  # fmt: skip
    singles = [x.layout.mesh for x in arrays if x is not None]
    return found[0] if found else singles[0] if singles else None


def check_small(what: str, position: int, tensor: Any) -> None:
    """Raise UnimplementedError for a tensor that does not get onto a mesh by itself."""
    kind, shape = tensor.dtype, tensor.shape
    if shape.rank == 0 or kind in (dtypes.resource, dtypes.variant):
        return
    if kind in (dtypes.int32, dtypes.int64, dtypes.string) and shape.num_elements() < _SMALL:
        return
    raise UnimplementedError(
        None, None, f"The op/function {what} got a regular tensor for input {position} (shape "
        f"[{','.join(map(str, shape.as_list()))}]) but was expecting a DTensor. Currently only scalars and small "
        "integer/string tensors are auto-broadcast to DTensors. For other tensors, please use copy_to_mesh to make a "
        "DTensor explicitly; note that this may be slow if it happens frequently.",
    )  # fmt: skip


def on_host(tensor: Any) -> Any:
    """All elements of a tensor, on the host."""
    held = mesh_array(tensor)
    if held is not None:
        return held.storage.on_host(held)
    where = _native.device_array(tensor)[0]
    return tensor if where == 0 else _native.tensor_of(np.asarray(tensor.numpy()), tensor.dtype)


def on_all(tensor: Any, storage: Any) -> Any:
    """A tensor of the host on all devices of a mesh; lists, handles and strings stay where they are."""
    if not isinstance(tensor, _native.EagerTensor) or tensor.dtype in (dtypes.resource, dtypes.variant, dtypes.string):
        return tensor
    if _native.device_array(tensor)[0]:
        return tensor
    layout = Layout.replicated(storage.mesh, len(placed.shape_of(tensor)))
    return placed.tensor_of(storage.put(tensor, layout), tensor.dtype)
