"""Tensors on meshes: what holds their elements, which device they name, and the mesh of the scope around.

Such a tensor is the native `Tensor` on the device "CUSTOM:0", which stands for all meshes. Its elements are a
`MeshArray`: an array of jax's, or a tensor of the host on a mesh of one CPU, which needs no jax.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import providers
from tapeflow.core import context, device
from tapeflow.core.device import DeviceSpec
from tapeflow.core.dtensor.layout import MATCH, UNSHARDED, Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import UnimplementedError, UnknownError

_lock = threading.Lock()
_custom: device.Device | None = None
_storages: dict[Mesh, Any] = {}
# Called once, with the index of the device, when the first tensor is to be on a mesh.
on_first_use: list[Callable[[int], None]] = []
# The text of an array as `tf.print` shows it; set by `show_elements_by`.
_elements: Callable[[np.ndarray], str] = str


# Lays a tensor out, and calls a function whose results are laid out; set by `lay_out_by`.
_relayout: Callable[[Any, Layout], Any] | None = None
_call_with_layout: Callable[..., Any] | None = None


def lay_out_by(relayout: Callable[[Any, Layout], Any], call_with_layout: Callable[..., Any]) -> None:
    """Let these functions lay out what `relaid` and `made_with` are given."""
    global _relayout, _call_with_layout
    _relayout, _call_with_layout = relayout, call_with_layout


def relaid(tensor: Any, layout: Any) -> Any:
    """A tensor in a layout. Raises ValueError for what is none."""
    return tensor if layout is None else _checked(_relayout, layout)(tensor, layout)


def made_with(layout: Any, function: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, in a layout. Raises ValueError for what is none."""
    return _checked(_call_with_layout, layout)(function, layout, *args)


def _checked(function: Callable[..., Any] | None, layout: Any) -> Callable[..., Any]:
    if function is None or not isinstance(layout, Layout):
        raise ValueError(f"layout must be None or a tf.experimental.dtensor.Layout, got {layout!r}")
    return function


def show_elements_by(function: Callable[[np.ndarray], str]) -> None:
    """Let `function` write the elements of the parts of tensors."""
    global _elements
    _elements = function


class _Scope(threading.local):
    """What holds in a thread.

    Attributes:
      mesh: the mesh of what runs, where nothing else says one.
      layout: the layout of results that can have it.
      gathers: whether the host runs what is on meshes: whole tensors are read and assigned.
    """

    mesh: Mesh | None = None
    layout: Layout | None = None
    gathers = False


scope = _Scope()


class MeshArray:
    """The elements of a tensor on a mesh.

    Args:
      array: an array of jax's, or a tensor of the host.
      layout: how it lies on its mesh.
      storage: that of the mesh.
    """

    __slots__ = ("array", "layout", "shape", "storage")

    def __init__(self, array: Any, layout: Layout, storage: Any):
        self.array, self.layout, self.storage = array, layout, storage
        self.shape = tuple(array.shape)

    def parts(self) -> list[Any]:
        """The part of each device of this process, in the order of the mesh."""
        return self.storage.parts(self)

    def whole(self) -> np.ndarray:
        """All elements, in NumPy's memory."""
        return np.asarray(self.array)

    def reshape(self, *shape: Any) -> MeshArray:
        """The same elements in another shape."""
        return self.storage.wrapped(self.array.reshape(*shape))

    def __getitem__(self, key: Any) -> MeshArray:
        return self.storage.wrapped(self.array[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if scope.gathers:
            return np.asarray(self.whole(), dtype)
        if not self.layout.is_fully_replicated():
            raise UnimplementedError(
                None, None, "Trying to copy a non-single-device and non-replicated DTensor is not supported. Input "
                f"tensor is: DTensor({self.text()}, shape={list(self.shape)})",
            )  # fmt: skip
        return np.asarray(self.parts()[0], dtype)

    def text(self) -> str:
        """The elements of each part, and the layout."""
        parts = [_elements(np.asarray(x)) for x in self.parts()]
        if self.layout.is_fully_replicated():
            shown = parts[0]
        else:
            specs = [DeviceSpec.from_string(d) for d in self.layout.mesh.local_devices()]
            names = [f'"{d.device_type}:{d.device_index}"' for d in specs]
            shown = f"{{{', '.join(f'{n}: {p}' for n, p in zip(names, parts, strict=True))}}}"
        return f'{shown}, layout="{self.layout.to_string()}"'


class HostStorage:
    """Tensors on a mesh of one CPU: tensors of the host."""

    def __init__(self, mesh: Mesh):
        self.mesh = mesh

    def put(self, tensor: Any, layout: Layout) -> MeshArray:
        """Place a tensor of the host; all of it is on the one device."""
        return MeshArray(tensor, layout, self)

    def laid_out(self, given: MeshArray, layout: Layout) -> MeshArray:
        """The same elements, which another mesh may have, in a layout of this mesh."""
        return self.put(_native.convert(given.whole()), layout)

    def wrapped(self, array: Any) -> MeshArray:
        """What was made of a whole array."""
        return MeshArray(array, Layout.replicated(self.mesh, len(array.shape)), self)

    def packed(self, parts: Sequence[Any], layout: Layout) -> MeshArray:
        """The tensor of its one part."""
        return self.put(parts[0], layout)

    def parts(self, of: MeshArray) -> list[Any]:
        """The one part."""
        return [of.array]

    def outputs(self, *call: Any) -> None:
        """Nothing: calls run on the host."""

    def on_host(self, of: MeshArray) -> Any:
        """The tensor of the host."""
        return of.array

    def part_tensor(self, number: int, part: Any, dtype: DType) -> Any:
        """The tensor of a part."""
        return part


def index() -> int:
    """The index of the device that stands for all meshes."""
    global _custom
    if _custom is None:
        with _lock:
            if _custom is None:
                made = device.add_custom_device("CUSTOM")
                context.reset_devices()
                for listener in on_first_use:
                    listener(made.index)
                _custom = made
    return _custom.index


def device_name() -> str:
    """The name of the device that stands for all meshes."""
    index()
    assert _custom is not None
    return _custom.name


@contextlib.contextmanager
def within(mesh: Mesh, layout: Layout | None) -> Iterator[None]:
    """A block whose eager operations run on a mesh, and give results the layout where they can have it."""
    before = scope.mesh, scope.layout
    scope.mesh, scope.layout = mesh, layout
    try:
        with context.eager_device(device_name(), index()):
            yield
    finally:
        scope.mesh, scope.layout = before


def layout_of(value: Any) -> Layout | None:
    """The layout of an eager tensor or a variable; None for one that is on no mesh."""
    if _custom is None:
        return None
    if isinstance(value, _native.Variable):
        if not getattr(value, "_is_set", False):
            return None
        with context.init_scope():  # the value itself, also while a function is traced
            value = _native.Variable.read_value(value)
    held = mesh_array(value)
    return None if held is None else held.layout


def storage_of(mesh: Mesh) -> Any:
    """What keeps tensors on a mesh.

    Raises:
      UnimplementedError: for several devices without jax.
      InvalidArgumentError: for devices that are not there.
    """
    if mesh not in _storages:
        is_host = mesh.size == 1 and mesh.device_type() == "CPU"
        _storages[mesh] = HostStorage(mesh) if is_host else providers.load("mesh_memory").JaxStorage(mesh)
    return _storages[mesh]


def mesh_array(tensor: Any) -> MeshArray | None:
    """The elements of an eager tensor on a mesh; None for one that is elsewhere."""
    if _custom is None or not isinstance(tensor, _native.EagerTensor):
        return None
    where, array = _native.device_array(tensor)
    return array if where == _custom.index else None


def tensor_of(array: MeshArray, dtype: DType) -> Any:
    """The tensor of elements on a mesh."""
    return _native.device_tensor(array, dtype.as_datatype_enum, index())


def resolved(layout: Layout, now: Layout | None) -> Layout:
    """A layout with MATCH replaced by what a tensor has now; UNSHARDED where it has none."""
    if MATCH not in layout.sharding_specs:
        return layout
    had = now.sharding_specs if now is not None else [UNSHARDED] * layout.rank
    specs = [had[i] if s == MATCH else s for i, s in enumerate(layout.sharding_specs)]
    return Layout(specs, layout.mesh)


def shape_of(tensor: Any) -> list[int]:
    """The shape of an eager tensor."""
    shape: list[int] = tensor.shape.as_list()
    return shape


def check_fits(layout: Layout, shape: Sequence[int]) -> None:
    """Raise UnknownError for a layout that a tensor of a shape cannot have."""
    if layout.is_single_device():
        return
    if layout.rank != len(shape):
        raise UnknownError(
            None, None, "'tf.DTensorLayout' op requires matching rank for layout and input, but got "
            f"{layout.rank} as suggested rank from layout but {len(shape)} from shape.",
        )  # fmt: skip
    for axis, size in enumerate(shape):
        if size % layout.num_shards(axis):
            raise UnknownError(
                None, None, f"'tf.DTensorLayout' op requires dimension {axis} to be divisible by sharding specified in "
                f"DTensorLayout, but got dimension size={size} is not divisible by number of shards in layout for "
                f"this dimension={layout.num_shards(axis)}.",
            )  # fmt: skip


def like(tensor: Any, variable: Any) -> Any:
    """A tensor in the layout of the value of a variable that is on a mesh; as it is for any other variable.

    Raises UnknownError for a tensor on another mesh.
    """
    if _custom is None or not getattr(variable, "_is_set", False):
        return tensor
    held = mesh_array(_native.Variable.read_value(variable))
    if held is None:
        return tensor
    given = mesh_array(tensor)
    if given is None:
        return tensor_of(held.storage.put(tensor, held.layout), tensor.dtype)
    if given.layout == held.layout:
        return tensor
    if given.layout.mesh != held.layout.mesh and not given.layout.mesh.is_single_device():
        raise UnknownError(
            None, None, "'tf_device.cluster' op failed during mesh propagation. All inputs to "
            "`tf_device.Cluster` must have same mesh configuration. Found "
            f"{held.layout.mesh} and {given.layout.mesh}",
        )  # fmt: skip
    return tensor_of(held.storage.laid_out(given, held.layout), tensor.dtype)


def to_str(tensor: Any) -> str | None:
    """What `print` shows of a tensor on a mesh; None for another one."""
    array = mesh_array(tensor)
    return None if array is None else f"tf.Tensor({array.text()}, shape={tensor.shape}, dtype={tensor.dtype.name})"


def to_repr(tensor: Any) -> str | None:
    """What `repr` shows of a tensor on a mesh; None for another one."""
    array = mesh_array(tensor)
    if array is None:
        return None
    return f"<tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}, value={array.text()}>"
