"""Eager operations on meshes of devices.

Each is one program over the devices, in which XLA says how results lie (`mesh_programs`). An input of the host is
copied to all devices where it is small, as in TensorFlow; else that is an error. What cannot be compiled runs on the
host, and its results are on all devices. On a mesh of one CPU everything does, without jax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import device, device_calls, dtypes
from tapeflow.core.device import DeviceSpec
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.dtensor.placed import MeshArray, mesh_array, storage_of
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.variables import variable_behind
from tapeflow.ops.state.variable import Variable
from tapeflow.xla import mesh_functions, mesh_values

_HOST_MESH = Mesh.from_device("/job:localhost/replica:0/task:0/device:CPU:0")


def start(index: int) -> None:
    """Run what is on meshes, the device of that index, here."""
    def is_there(inputs: Sequence[Any], device: int) -> bool:
        return device == index or any(_held(x) is not None for x in inputs)

    device_calls.use_mesh_driver(is_there, call, mesh_functions.program)
    before = device_calls.copier

    def copied(tensor: Any, name: str) -> Any:
        kind = DeviceSpec.from_string(name).device_type
        if kind == "CUSTOM":
            result = placed.tensor_of(_anywhere(tensor), tensor.dtype)
        elif mesh_array(tensor) is None:
            if before is None:
                raise RuntimeError(device.unknown(name))
            return before(tensor, name)
        else:
            result = _off_mesh(tensor, name, before)
        if _native.recording_tapes():
            _native.record_custom("Copy", [result], [tensor], lambda dy: [dy])
        return result

    _native.set_copy_to_device(copied)


def _off_mesh(tensor: Any, name: str, copy: Any) -> Any:
    try:
        here = _native.tensor_of(np.array(tensor.numpy()), tensor.dtype)
    except UnimplementedError as error:
        raise RuntimeError(error.message) from None
    return here if copy is None or DeviceSpec.from_string(name).device_type == "CPU" else copy(here, name)


def _anywhere(tensor: Any) -> MeshArray:
    """A tensor of the host for whatever mesh it meets."""
    return storage_of(_HOST_MESH).put(mesh_values.on_host(tensor), Layout.from_single_device_mesh(_HOST_MESH))


def _value(x: Any) -> Any:
    variable = variable_behind(x)
    return x if variable is None else _native.Variable.read_value(variable)


def _held(x: Any) -> MeshArray | None:
    return mesh_array(_value(x))


def call(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    """The outputs of a call of which an input, or the device of the scope, is a mesh; flat."""
    held = [_held(x) for x in inputs]
    mesh = mesh_values.common_mesh(row.name, held) or placed.scope.mesh
    if mesh is None:
        raise InvalidArgumentError(
            None, None, f"{row.name}: no mesh: no input is a DTensor, and there is no dtensor.default_mesh around"
        )
    in_scope = device == placed.index()
    for position, (x, array) in enumerate(zip(inputs, held, strict=True)):
        if array is None and not in_scope:
            mesh_values.check_small(row.name, position, x)
    if row.of_shape is not None and inputs[0].dtype is not dtypes.resource:
        kind = row.schema.filled(attrs).get("out_type", dtypes.int32)
        return tuple(_native.tensor_of(np.array(row.of_shape(x.shape), kind.as_numpy_dtype), kind) for x in inputs)
    storage = storage_of(mesh)
    outputs = storage.outputs(row, inputs, [variable_behind(x) for x in inputs], attrs, sizes)
    return outputs if outputs is not None else _through_host(row, inputs, attrs, sizes, storage)


def _through_host(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], sizes: tuple[int, ...], storage: Any
) -> tuple[Any, ...]:
    """The outputs of what the host computes, on the mesh."""
    twins: list[tuple[Any, Any]] = []  # of variables: a variable of the host with the same value
    given = []
    for x in inputs:
        variable = variable_behind(x)
        if variable is None:
            given.append(mesh_values.on_host(x))
            continue
        twin = next((t for v, t in twins if v is variable), None)
        if twin is None:
            twin = _twin(variable)
            twins.append((variable, twin))
        given.append(twin.handle)
    before = _native.set_device_scope(-1)
    try:
        outputs = device_calls.on_host(row, tuple(given), attrs, -1, sizes)
    finally:
        _native.set_device_scope(before)
    if row.stateful:
        for variable, twin in twins:
            value = _native.Variable.read_value(twin)
            variable._set(_placed_like(value, _native.Variable.read_value(variable)))
    return tuple(mesh_values.on_all(y, storage) for y in outputs)


def _twin(variable: Any) -> Any:
    before = _native.set_device_scope(-1)
    try:
        with _native.PausedTapes():
            value = mesh_values.on_host(_native.Variable.read_value(variable))
            return Variable(np.array(value.numpy()) if value.dtype.is_numpy_compatible else value, dtype=value.dtype)
    finally:
        _native.set_device_scope(before)


def _placed_like(value: Any, now: Any) -> Any:
    held = mesh_array(now)
    if held is None:
        return value
    return placed.tensor_of(held.storage.put(value, held.layout), value.dtype)
