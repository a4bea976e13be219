"""The nodes Save, SaveSlices, Restore and RestoreSlice of graphs: checkpoints of version 1."""

from __future__ import annotations

from typing import Any

from tapeflow.checkpoint import slices as slicing
from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.first_writing import write_first
from tapeflow.checkpoint.saving_nodes import emits, listed, parts_of, strings, texts
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.graph.build import building
from tapeflow.ops.control import staging
from tapeflow.ops.raw_function import raw_function


def save_slices_node(filename: Any, names: list[str], specs: list[str], tensors: list[Any], name: str | None) -> Any:
    """An operation that writes tensors under names to a file of version 1; `specs` say what parts they are."""
    return _added("SaveSlices", [filename, strings(names), strings(specs), *tensors], 3, name)


def _added(kind: str, inputs: list[Any], fixed: int, name: str | None) -> Any:
    """A new node of the current graph, whose inputs behind the first ones are a list."""
    graph = context.current_graph()
    flat = tuple(building.as_symbolic(graph, convert_to_tensor(x)) for x in inputs)
    attrs = {"T": [x.dtype.base_dtype for x in flat[fixed:]]}
    return graph.add(kind, None, flat, (*[None] * fixed, len(flat) - fixed), attrs, name or kind)


@raw_function("Save")
def save(filename, tensor_names, data, name: str | None = None):
    """Write tensors to a checkpoint of version 1."""
    tensors = [convert_to_tensor(x) for x in data]
    names = listed(tensor_names)
    _counted(names, tensors)
    if staging.staged(filename, *tensors):
        return _added("Save", [filename, strings(names), *tensors], 2, name)
    _save(convert_to_tensor(filename), convert_to_tensor(strings(names)), *tensors)
    return None


@raw_function("SaveSlices")
def save_slices(filename, tensor_names, shapes_and_slices, data, name: str | None = None):
    """Write tensors, or slices of tensors, to a checkpoint of version 1."""
    tensors = [convert_to_tensor(x) for x in data]
    names, specs = listed(tensor_names), listed(shapes_and_slices)
    _counted(names, tensors)
    if len(specs) != len(names):
        raise InvalidArgumentError(
            None, None, f"Expected {len(names)} elements for the tensor shapes and slices but got {len(specs)}"
        )
    if staging.staged(filename, *tensors):
        return save_slices_node(filename, names, specs, tensors, name)
    _save_slices(
        convert_to_tensor(filename), convert_to_tensor(strings(names)), convert_to_tensor(strings(specs)), *tensors
    )
    return None


def _counted(names: list[str], tensors: list[Any]) -> None:
    if len(names) != len(tensors):
        raise InvalidArgumentError(None, None, f"Got {len(names)} tensor names but {len(tensors)} tensors.")


@raw_function("Restore")
def restore(file_pattern, tensor_name, dt, preferred_shard: int = -1, name: str | None = None):
    """The tensor of a name in a checkpoint; all files are read, whatever the preferred one."""
    return _restored("Restore", [file_pattern, tensor_name], dt, preferred_shard, name)


@raw_function("RestoreSlice")
def restore_slice(
    file_pattern, tensor_name, shape_and_slice, dt, preferred_shard: int = -1, name: str | None = None
):
    """The tensor of a name in a checkpoint, or a slice of it."""
    return _restored("RestoreSlice", [file_pattern, tensor_name, shape_and_slice], dt, preferred_shard, name)


def _restored(kind: str, inputs: list[Any], dt: Any, preferred_shard: int, name: str | None) -> Any:
    wanted, tensors = as_dtype(dt), [convert_to_tensor(x) for x in inputs]
    if not staging.staged(*tensors):
        return _restore_as(wanted)(*tensors)[0]
    graph = context.current_graph()
    flat = tuple(building.as_symbolic(graph, x) for x in tensors)
    attrs = {"dt": wanted, "preferred_shard": preferred_shard}
    op = graph.add(kind, None, flat, (None,) * len(flat), attrs, name or kind)
    spec = listed(inputs[2])[0] if len(inputs) > 2 else ""
    return op.add_output(wanted, slicing.lengths(*slicing.parse(spec)) if spec else None)


def _save(filename: Any, names: Any, *tensors: Any) -> list[Any]:
    return _save_slices(filename, names, convert_to_tensor(strings([""] * len(tensors))), *tensors)


def _save_slices(filename: Any, names: Any, specs: Any, *tensors: Any) -> list[Any]:
    write_first(texts(filename)[0], list(parts_of(names, specs, tensors)))
    return []


def _restore_as(wanted: Any) -> Any:
    def run(pattern: Any, name: str, spec: Any = None) -> list[Any]:
        [path], [key] = texts(pattern), texts(name)
        reader, part = reader_of(path), texts(spec)[0] if spec is not None else ""
        if key not in reader:
            raise NotFoundError(None, None, f'Tensor name "{key}" not found in checkpoint files {path}')
        if reader.dtype(key) != wanted:
            raise InvalidArgumentError(
                None, None,
                f"Expected to restore a tensor of type {wanted.name}, got a tensor of type {reader.dtype(key).name} "
                f"instead: tensor_name = {key}",
            )  # fmt: skip
        value = reader.read_slice(key, *slicing.parse(part)) if part else reader.read(key)
        return [convert_to_tensor(value, wanted)]

    return run


emits("Save", lambda op: _save)
emits("SaveSlices", lambda op: _save_slices)
for _kind in ("Restore", "RestoreSlice"):
    emits(_kind, lambda op: _restore_as(op.attrs["dt"]))
