"""The nodes SaveV2 and RestoreV2 of graphs: checkpoints written and read when a session runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.checkpoint import slices as slicing
from tapeflow.checkpoint.bundle_writing import merge_bundles, write_bundle
from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.slices import Part
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.core.files.paths import local_path
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.ops.control import staging
from tapeflow.ops.raw_function import raw_function
from tapeflow.ops.static import static_value


def save_node(
    prefix: Any,
    names: list[str],
    tensors: list[Any],
    name: str | None = None,
    slices: list[str] | None = None,
) -> Any:
    """An operation that writes tensors under names to the checkpoint of a prefix.

    Args:
      slices: for each tensor what of the tensor of that name it is; "" for all.
    """
    graph = context.current_graph()
    slices = [""] * len(names) if slices is None else slices
    inputs = [convert_to_tensor(x) for x in (prefix, strings(names), strings(slices), *tensors)]
    flat = tuple(building.as_symbolic(graph, x) for x in inputs)
    attrs = {"dtypes": [x.dtype.base_dtype for x in flat[3:]]}
    return graph.add("SaveV2", None, flat, (None, None, None, len(names)), attrs, name or "SaveV2")


def restore_node(
    prefix: Any,
    names: list[str],
    kinds: list[Any],
    name: str | None = None,
    slices: list[str] | None = None,
) -> Any:
    """The tensors of those names in the checkpoint of a prefix; `kinds`: (dtype, shape) of each."""
    graph = context.current_graph()
    slices = [""] * len(names) if slices is None else slices
    inputs = [convert_to_tensor(x) for x in (prefix, strings(names), strings(slices))]
    flat = tuple(building.as_symbolic(graph, x) for x in inputs)
    attrs = {"dtypes": [dtype for dtype, _ in kinds]}
    op = graph.add("RestoreV2", None, flat, (None, None, None), attrs, name or "RestoreV2")
    shapes = [TensorShape(shape) for _, shape in kinds]
    return [
        op.add_output(dtype, None if shape.rank is None else tuple(shape.as_list()))
        for (dtype, _), shape in zip(kinds, shapes, strict=True)
    ]


@raw_function("SaveV2")
def save_v2(prefix, tensor_names, shape_and_slices, tensors, name: str | None = None):
    """Writes tensors, or slices of tensors, to the checkpoint of a prefix."""
    names, specs = listed(tensor_names), listed(shape_and_slices)
    if len(names) != len(tensors) or len(specs) != len(names):
        raise InvalidArgumentError(
            None, None, f"Got {len(names)} tensor names but {len(tensors)} tensors."
        )
    tensors = [convert_to_tensor(x) for x in tensors]
    if staging.staged(prefix, *tensors):
        return save_node(prefix, names, tensors, name, specs)
    _save(convert_to_tensor(prefix), convert_to_tensor(strings(names)), convert_to_tensor(strings(specs)), *tensors)
    return None


@raw_function("RestoreV2")
def restore_v2(prefix, tensor_names, shape_and_slices, dtypes, name: str | None = None):
    """The tensors of those names in the checkpoint of a prefix, or slices of them."""
    names, specs = listed(tensor_names), listed(shape_and_slices)
    kinds = [as_dtype(each) for each in dtypes]
    if staging.staged(prefix):
        if len(specs) != len(names):
            raise ValueError(
                f"Dimension 0 in both shapes must be equal, but are {len(names)} and {len(specs)}. Shapes are "
                f"[{len(names)}] and [{len(specs)}]."
            )
        shapes = [slicing.lengths(*slicing.parse(spec)) if spec else None for spec in specs]
        return restore_node(prefix, names, list(zip(kinds, shapes, strict=True)), name, specs)
    if not len(names) == len(specs) == len(kinds):
        raise InvalidArgumentError(
            None, None, f"Got {len(names)} tensor names, but {len(kinds)} expected dtypes."
        )
    return _restore_as(kinds)(
        convert_to_tensor(prefix), convert_to_tensor(strings(names)), convert_to_tensor(strings(specs))
    )


@raw_function("MergeV2Checkpoints")
def merge_v2_checkpoints(
    checkpoint_prefixes, destination_prefix, delete_old_dirs: bool = True, allow_missing_files: bool = False,
    name: str | None = None,
):
    """Joins the checkpoints of several prefixes under one."""
    inputs = [convert_to_tensor(checkpoint_prefixes), convert_to_tensor(destination_prefix)]
    graph = context.current_graph()
    if staging.staged(*inputs) and graph is not None:
        flat = tuple(building.as_symbolic(graph, x) for x in inputs)
        attrs = {"delete_old_dirs": delete_old_dirs, "allow_missing_files": allow_missing_files}
        return graph.add("MergeV2Checkpoints", None, flat, (None, None), attrs, name or "MergeV2Checkpoints")
    _merge_as(delete_old_dirs, allow_missing_files)(*inputs)
    return None


def listed(values: Any) -> list[str]:
    """The strings of a list or of a tensor whose value is known."""
    tensor = convert_to_tensor(values)
    known: Any = tensor.numpy() if hasattr(tensor, "numpy") else static_value(tensor)
    if known is None:
        raise ValueError(f"The names of a checkpoint's tensors must be known: {values}")
    return [text.decode() for text in np.ravel(known)]


def strings(values: list[str]) -> np.ndarray:
    """An array of texts."""
    return np.array([value.encode() for value in values], object)


def texts(tensor: Any) -> list[str]:
    """The texts of an eager tensor."""
    return [text.decode() for text in np.ravel(tensor.numpy())]


def parts_of(names: Any, slices: Any, tensors: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Names and arrays, or parts of arrays, of what is saved. Raises InvalidArgumentError for parts of other sizes."""
    for name, spec, tensor in zip(texts(names), texts(slices), tensors, strict=True):
        if not spec:
            yield name, tensor.numpy()
            continue
        shape, extents = slicing.parse(spec)
        if tuple(tensor.shape) != slicing.lengths(shape, extents):
            raise InvalidArgumentError(
                None, None,
                f"Slice in shape_and_slice spec {spec} does not match the shape of the tensor to save: "
                f"{tensor.shape}",
            )  # fmt: skip
        yield name, Part(tensor.numpy(), shape, extents)


def grouped(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Arrays, or lists of the parts of one, by name."""
    found: dict[str, Any] = {}
    for name, value in values:
        if isinstance(value, Part):
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


def _save(prefix: Any, names: Any, slices: Any, *tensors: Any) -> list[Any]:
    found = grouped(parts_of(names, slices, tensors))
    path = local_path(texts(prefix)[0])
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    write_bundle(path, found)
    return []


def _restore_as(kinds: list[Any]) -> Any:
    def restore(prefix: Any, names: Any, slices: Any) -> list[Any]:
        path = texts(prefix)[0]
        reader = reader_of(path)
        found = []
        for name, spec, dtype in zip(texts(names), texts(slices), kinds, strict=True):
            if name not in reader:
                raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
            if reader.dtype(name) != dtype:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype "
                    f"{reader.dtype(name).name}",
                )
            value = None if spec else reader.read_tensor(name)
            if value is None:
                array = reader.read_slice(name, *slicing.parse(spec)) if spec else reader.read(name)
                if isinstance(array, np.ndarray) and array.dtype == object and not array.ndim:
                    array = array.item()
                value = convert_to_tensor(array, dtype)
            found.append(value)
        return found

    return restore


def _merge_as(delete_old_dirs: bool, allow_missing_files: bool) -> Any:
    def merge(prefixes: Any, destination: Any) -> list[Any]:
        merge_bundles(texts(prefixes), texts(destination)[0], delete_old_dirs, allow_missing_files)
        return []

    return merge


def emits(kind: str, function_of: Callable[[Any], Callable[..., list[Any]]]) -> None:
    """Let nodes of an op run the function of eager tensors that `function_of` returns for one of them."""

    def emit(emitter: Any, op: Any) -> None:
        function = function_of(op)

        def run(*values: Any) -> Any:
            with context.eager_mode(), context.pause_recording():
                return function(*values)

        inputs = [emitter.number(x) for x in op.inputs]
        outputs = [emitter.output(y) for y in op.outputs]
        emitter.program.instructions.append(Instruction("python", run, inputs, outputs, op, True))

    planning.emits(kind)(emit)


emits("SaveV2", lambda op: _save)
emits("RestoreV2", lambda op: _restore_as(op.attrs["dtypes"]))
emits(
    "MergeV2Checkpoints",
    lambda op: _merge_as(op.attrs.get("delete_old_dirs", True), op.attrs.get("allow_missing_files", False)),
)
emits("DisableCopyOnRead", lambda op: lambda resource: [])
