"""Tensors onto meshes and off them, and what their layouts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import UNSHARDED, Layout
from tapeflow.core.dtensor.placed import MeshArray, mesh_array, storage_of
from tapeflow.core.errors import InternalError, InvalidArgumentError, UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.ops.control.relayout import Relayout, RelayoutLike
from tapeflow.xla import mesh_values


def _eagerly(what: str) -> None:
    if not context.executing_eagerly():
        raise RuntimeError(f"`{what}` must be called eagerly.")


def relayout(tensor: TensorLike, layout: Layout, name: str | None = None) -> Tensor:
    """Lay a tensor out in another way.

    Args:
      tensor: a tensor on a mesh, or one of the host, which is copied.
      layout: the new layout; MATCH for an axis keeps what it has.
      name: a name for the operation (optional).

    Returns:
      The same elements, on the mesh of `layout`. Gradients go back to where the tensor was.

    Raises:
      UnknownError: for a layout of another rank, or which does not divide the sizes.
    """
    if not context.executing_eagerly():
        return Relayout(tensor, layout.to_string(), name=name)
    given = convert_to_tensor(tensor)
    held, storage, shape = mesh_array(given), storage_of(layout.mesh), placed.shape_of(given)
    if held is None:
        if layout.rank != len(shape) and all(s == UNSHARDED for s in layout.sharding_specs):
            layout = Layout.replicated(layout.mesh, len(shape))  # as TensorFlow
        placed.check_fits(layout, shape)
        made = storage.put(mesh_values.on_host(given), placed.resolved(layout, None))
    else:
        placed.check_fits(layout, shape)
        made = storage.laid_out(held, placed.resolved(layout, held.layout))
    result = placed.tensor_of(made, given.dtype)
    if _native.recording_tapes() and (given.dtype.is_floating or given.dtype.is_complex):
        _native.record_custom(Relayout.name, [result], [given], lambda dy: [_back(dy, held)])
    return result


def _back(dy: Tensor, held: MeshArray | None) -> Tensor:
    """A gradient, where the tensor was that it belongs to."""
    if mesh_array(dy) is None:
        return dy
    return mesh_values.on_host(dy) if held is None else relayout(dy, held.layout)


def copy_to_mesh(tensor: Any, layout: Layout, source_layout: Layout | None = None) -> Tensor:
    """Copy a tensor to a mesh.

    Args:
      tensor: whatever converts to a tensor.
      layout: how it is to lie on its mesh.
      source_layout: not used.

    Returns:
      A tensor on the mesh of `layout`.

    Raises:
      UnknownError: for a layout of another rank, or which does not divide the sizes.
    """
    del source_layout
    return relayout(tensor, layout)


def relayout_like(tensor: TensorLike, layout_tensor: Tensor, name: str | None = None) -> Tensor:
    """Lay a tensor out as another one.

    Args:
      tensor: a tensor on a mesh, or one of the host, which is copied.
      layout_tensor: a tensor on a mesh, of the same rank.
      name: a name for the operation (optional).

    Returns:
      The elements of `tensor` in the layout of `layout_tensor`.

    Raises:
      UnknownError: where the layout does not fit.
    """
    if not context.executing_eagerly():
        return RelayoutLike(tensor, layout_tensor, name=name)
    layout = fetch_layout(layout_tensor)
    if layout is None:
        raise TypeError(f"Expecting a Tensor, got {type(layout_tensor)}")
    return relayout(tensor, layout)


def pack(tensors: Sequence[Any], layout: Layout) -> Tensor:
    """Make a tensor on a mesh of the part of each device.

    Args:
      tensors: whatever converts to tensors, one for each device of the mesh, of one dtype and shape.
      layout: the layout of the tensor.

    Returns:
      The tensor, of whose axes the sharded ones are as much larger as there are shards.

    Raises:
      RuntimeError: while a graph is built.
      InvalidArgumentError: for another number of parts, and parts of another rank than the layout.
      UnimplementedError: for parts of several shapes.
      InternalError: for parts of several dtypes.

    >>> dtensor = tf.experimental.dtensor
    >>> mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> dtensor.pack([[1, 2]], dtensor.Layout(["x"], mesh)).shape
    TensorShape([2])
    """
    _eagerly("pack")
    count = layout.mesh.num_local_devices()
    if len(tensors) != count:
        raise InvalidArgumentError(
            None, None, f"The dtensor device {placed.device_name()} expected {count} inputs to DTensorPack, but got "
            f"{len(tensors)}",
        )  # fmt: skip
    parts = [convert_to_tensor(x) for x in tensors]
    if len({x.dtype for x in parts}) > 1:
        raise InternalError(None, None, "Components of a PackedTensor must all have the same dtype")
    if len({tuple(x.shape.as_list()) for x in parts}) > 1:
        raise UnimplementedError(None, None, "Components of a PackedTensor must currently all have the same shape")
    rank = len(placed.shape_of(parts[0]))
    if layout.is_single_device():
        layout = Layout.replicated(layout.mesh, rank)
    if rank != layout.rank:
        raise InvalidArgumentError(
            None, None, "Packed layout should have the same rank as the rank for each component. The rank of each "
            f"component is: {rank}, while layout has rank: {layout.rank}\nLayout: {layout.to_string()}\n",
        )  # fmt: skip
    return placed.tensor_of(storage_of(layout.mesh).packed(parts, layout), parts[0].dtype)


def unpack(tensor: Any) -> Sequence[Tensor]:
    """The part of each device.

    Args:
      tensor: a tensor on a mesh, or a variable.

    Returns:
      A list of tensors, each on its device.

    Raises:
      RuntimeError: while a graph is built.
      TypeError: for what is no tensor.
      InvalidArgumentError: for a tensor that is on no mesh.
    """
    _eagerly("unpack")
    if not _is_eager(tensor):
        raise TypeError(f"Expecting a Tensor, got {type(tensor)}")
    value = _value_of(tensor)
    held = mesh_array(value)
    if held is None:
        raise InvalidArgumentError(
            None, None, f"DTensorUnpack expects a tensor placed on the DTensor device: {placed.device_name()}, but "
            f"input was placed on device: {value.device}",
        )  # fmt: skip
    return [held.storage.part_tensor(i, part, value.dtype) for i, part in enumerate(held.parts())]


def _value_of(tensor: Any) -> Any:
    if isinstance(tensor, _native.Variable):
        with _native.PausedTapes():
            return tensor.read_value()
    return tensor


def fetch_layout(tensor: Any) -> Layout | None:
    """The layout of a tensor; None for what is no tensor.

    Args:
      tensor: a tensor on a mesh, or a variable.

    Raises:
      RuntimeError: while a graph is built.
      InvalidArgumentError: for a tensor that is on no mesh.
    """
    _eagerly("fetch_layout")
    if not _is_eager(tensor):
        return None
    held = mesh_array(_value_of(tensor))
    if held is None:
        raise InvalidArgumentError(None, None, "FetchLayout expects a tensor placed on the layout device.")
    return held.layout


def check_layout(tensor: Any, layout: Layout) -> None:
    """Check that a tensor has a layout.

    Args:
      tensor: a tensor on a mesh, or a variable.
      layout: the layout.

    Raises:
      ValueError: for a tensor that has another one.
    """
    found = fetch_layout(tensor)
    if found != layout:
        raise ValueError(f"Layout of tensor: {found}, did not match expected layout: {layout}")


def is_dtensor(tensor: Any) -> bool:
    """Whether a value is a tensor, or a variable, on a mesh. Raises RuntimeError while a graph is built."""
    _eagerly("is_dtensor")
    return _is_eager(tensor) and mesh_array(_value_of(tensor)) is not None


def _is_eager(value: Any) -> bool:
    return isinstance(value, (_native.EagerTensor, _native.Variable))


def whole(tensor: Any) -> np.ndarray:
    """All elements of a tensor or variable on a mesh, in NumPy's memory."""
    value = _value_of(tensor)
    held = mesh_array(value)
    return np.asarray(value.numpy()) if held is None else held.whole()


boundaries(globals())
