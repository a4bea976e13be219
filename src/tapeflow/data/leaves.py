"""Elements as flat lists of tensors, as nodes of a graph take and give them, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorSpec
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec
from tapeflow.core.specs.protocol import (
    component_specs,
    flat_specs,
    from_fitting_tensors,
    type_spec_of,
)
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.dataset_class import dataset_from_recipe, is_dataset, with_inputs
from tapeflow.data.element import DatasetSpec
from tapeflow.data.optional import Optional, OptionalSpec
from tapeflow.data.parts import parts_of
from tapeflow.graph.nodes import python_ops
from tapeflow.ops.array.stacking import stack, unstack
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec
from tapeflow.ops.ragged.tensor import RaggedTensor, RaggedTensorSpec


def boxed(value: Any) -> Any:
    """A variant tensor that holds a Python object."""
    box = np.empty((), object)
    box[()] = value
    return _native.tensor_of(box, dtypes.variant)


def boxed_dataset(dataset: Any) -> Any:
    """A variant tensor that holds a dataset; of tensors of a graph, one of that graph."""
    if not parts_of(dataset).captured:
        return boxed(dataset)
    if parts_of(dataset).kind == "Variant":  # it came in such a tensor
        return parts_of(dataset).captured[0]
    def run(*values: Any) -> list[Any]:
        return [boxed(with_inputs(dataset, values))]

    captured = parts_of(dataset).captured
    return python_ops.node("PyFunc", run, captured, [(dtypes.variant, ())], "Dataset", False).outputs[0]


def unboxed(tensor: Any) -> Any:
    """The object in a variant tensor made by `boxed`."""
    found = tensor.numpy()
    return found.item() if hasattr(found, "item") else found


def dims(shape: ShapeLike) -> tuple[int | None, ...] | None:
    """A shape as nodes have it."""
    known = TensorShape(shape)
    return None if known.rank is None else tuple(known.as_list())


def of_spec(spec: Any) -> list[Any]:
    """The leaves of a structure of specs."""
    found: list[Any] = []
    element.map_leaves(found.append, spec)
    return found


def outputs(spec: Any) -> list[tuple[Any, Any]]:
    """(dtype, shape) of each tensor of an element."""
    return [pair for leaf in of_spec(spec) for pair in _of_leaf(leaf)]


def _of_leaf(spec: Any) -> list[tuple[Any, Any]]:
    if spec is None:
        return []
    if isinstance(spec, TensorSpec):
        return [(spec.dtype, dims(spec.shape))]
    if isinstance(spec, RaggedTensorSpec):
        sizes = spec.shape.as_list() if spec.shape.rank is not None else None
        values = None if sizes is None else (None, *sizes[spec.ragged_rank + 1 :])
        splits: list[Any] = [(spec.row_splits_dtype, (None,))] * spec.ragged_rank
        if splits and sizes and sizes[0] is not None:
            splits[0] = (spec.row_splits_dtype, (sizes[0] + 1,))
        return [(spec.dtype, values), *splits]
    if isinstance(spec, SparseTensorSpec):
        return [(s.dtype, dims(s.shape)) for s in component_specs(spec)]
    if isinstance(spec, ExtensionTypeSpec):
        return [(s.dtype, dims(s.shape)) for s in flat_specs(spec)]
    if isinstance(spec, OptionalSpec):
        return [(dtypes.bool, ()), *outputs(spec.element_spec)]
    return [(dtypes.variant, ())]


def to_tensors(spec: Any, value: Any) -> list[Any]:
    """The tensors of an element of this spec."""
    found: list[Any] = []
    element.map_leaves(lambda s, leaf: found.extend(_to_tensors(s, leaf)), spec, value)
    return found


def _to_tensors(spec: Any, leaf: Any) -> list[Any]:
    if spec is None:
        return []
    if isinstance(spec, TensorSpec):
        return [convert_to_tensor(leaf)]
    if isinstance(spec, RaggedTensorSpec):
        if not spec.ragged_rank:
            return [convert_to_tensor(leaf)]
        return [leaf.flat_values, *leaf.nested_row_splits]
    if isinstance(spec, SparseTensorSpec):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    if isinstance(spec, (TensorArraySpec, ExtensionTypeSpec)):
        return list(nest.flatten(leaf, expand_composites=True))
    if isinstance(spec, OptionalSpec):
        inner = spec.element_spec
        there = convert_to_tensor(leaf.present)
        if leaf.value is None or (isinstance(there, _native.EagerTensor) and not there):
            return [there, *blank(inner)]
        return [there, *to_tensors(inner, leaf.value)]
    return [boxed_dataset(leaf) if is_dataset(leaf) else boxed(leaf)]


def from_tensors(spec: Any, tensors: Any) -> Any:
    """The element of this spec that the tensors make up: the opposite of `to_tensors`."""
    flat = iter(list(tensors))

    def made(leaf: Any) -> Any:
        if leaf is None:
            return None
        if isinstance(leaf, TensorSpec):
            return next(flat)
        if isinstance(leaf, RaggedTensorSpec):
            values = next(flat)
            if not leaf.ragged_rank:
                return values
            splits = [next(flat) for _ in range(leaf.ragged_rank)]
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        if isinstance(leaf, SparseTensorSpec):
            indices, values, dense_shape = next(flat), next(flat), next(flat)
            if isinstance(indices, _native.EagerTensor):
                return SparseTensor(indices, values, dense_shape)
            sparse = SparseTensor(indices, values, _with_known_sizes(dense_shape, leaf.shape))
            sparse.set_shape(leaf.shape)
            return sparse
        if isinstance(leaf, (TensorArraySpec, ExtensionTypeSpec)):
            return from_fitting_tensors(leaf, [next(flat) for _ in flat_specs(leaf)])
        if isinstance(leaf, OptionalSpec):
            there = next(flat)
            tensors = [next(flat) for _ in outputs(leaf.element_spec)]
            return Optional(from_tensors(leaf.element_spec, tensors), leaf.element_spec, there)
        return _unpacked(leaf, next(flat))

    return element.map_leaves(made, spec)


def _with_known_sizes(dense_shape: Any, shape: TensorShape) -> Any:
    """The dense shape of a sparse tensor in a graph, so that what is computed of it knows what the spec knows."""
    if shape.rank is None or not any(size is not None for size in shape):
        return dense_shape
    if shape.is_fully_defined():
        return convert_to_tensor(shape.as_list(), dtypes.int64, name="shape")
    return stack([
        size if known is None else convert_to_tensor(known, dtypes.int64)
        for size, known in zip(unstack(dense_shape, shape.rank), shape.as_list(), strict=True)
    ])  # fmt: skip


def _unpacked(spec: Any, tensor: Any) -> Any:
    """What a variant tensor holds; of a dataset in a graph, one that is known when it runs."""
    if isinstance(tensor, _native.EagerTensor):
        return unboxed(tensor)
    if not isinstance(spec, DatasetSpec):
        raise TypeError(f"Elements of type {spec} cannot be taken apart in a graph.")
    return dataset_from_recipe("Variant", [tensor], unboxed, spec.element_spec, spec.dataset_shape)


def blank(spec: Any) -> list[Any]:
    """Tensors that stand for an element where there is none."""
    return [_blank(dtype, shape) for dtype, shape in outputs(spec)]


def _blank(dtype: Any, shape: Any) -> Any:
    if dtype == dtypes.variant:
        return boxed(None)
    sizes = [d or 0 for d in (shape or ())]
    if dtype == dtypes.string:
        return convert_to_tensor(np.full(sizes, b"", object), dtype)
    return convert_to_tensor(np.zeros(sizes, dtype.as_numpy_dtype), dtype)


nest.register_composite(
    Optional,
    lambda optional: to_tensors(type_spec_of(optional), optional),
    lambda optional, found: from_tensors(type_spec_of(optional), found),
)
