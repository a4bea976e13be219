"""Elements made of several elements: stacked, padded, ragged or sparse; and slices of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow._native import EagerTensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.specs.extension_batching import (
    BatchableExtensionType,
    BatchableExtensionTypeSpec,
    decoded,
    encoded,
    encoding_specs,
)
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec
from tapeflow.core.specs.protocol import (
    batched,
    flat_specs,
    type_spec_of,
    unbatched,
)
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.dataset_class import dataset_of, is_dataset
from tapeflow.data.parts import parts_of
from tapeflow.ops.array.stacking import stack as stack_tensors
from tapeflow.ops.ragged.tensor import RaggedTensor, RaggedTensorSpec

if TYPE_CHECKING:
    from tapeflow.core.sparse_tensor import SparseTensorSpec


def batch_spec(leaf: SparseTensorSpec | TensorSpec, size: int | None):
    """The spec of `size` (None: it is not known) values of a spec, stacked."""
    if leaf is None:
        return None
    if isinstance(leaf, element.DatasetSpec):
        return element.DatasetSpec(leaf.element_spec, [size, *leaf.dataset_shape.as_list()])
    if isinstance(leaf, ExtensionTypeSpec) and hasattr(leaf, "_batch"):
        return batched(leaf, size)
    if getattr(leaf, "shape", None) is None:
        raise TypeError(f"Elements of {leaf} cannot be batched.")
    return _with_shape(leaf, TensorShape([size]).concatenate(leaf.shape), 1)


def _with_shape(spec: SparseTensorSpec | TensorSpec, shape: ShapeLike, more: int):
    """A spec of another shape, with so many more ragged dimensions, if it has any."""
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + more, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


def stacked(elements: Sequence[Any]):
    """One element whose leaves are those of `elements` along a new first axis."""
    first = elements[0]
    if type(first) is EagerTensor:
        texts = _texts(elements) if first.dtype == dtypes.string else None
        return stack_tensors(elements) if texts is None else _native.tensor_of(texts, dtypes.string)
    if isinstance(first, Mapping):
        return element.rebuild(first, [stacked([e[key] for e in elements]) for key in first])
    if element.is_structure(first):
        columns = zip(*map(element.children, elements))
        return element.rebuild(first, [stacked(list(column)) for column in columns])
    if first is None:
        return None
    if isinstance(first, SparseTensor):
        return _stacked_sparse(elements)
    if isinstance(first, RaggedTensor):
        return _stacked_ragged(elements)
    if is_dataset(first):
        return stacked_datasets(elements)
    if isinstance(first, BatchableExtensionType):
        return stack_ragged(elements, type_spec_of(first))
    raise TypeError(f"Elements of type {type(first).__name__} cannot be batched.")


def _texts(elements: Sequence[Tensor]):
    """Scalar strings as an array, much quicker than stacking; None where others are among them."""
    values = [each.numpy() for each in elements]
    if any(type(value) is not bytes for value in values):
        return None
    array = np.empty(len(values), object)
    array[:] = values
    return array


def stacked_datasets(datasets: Sequence[Any]):
    """A dataset that stands for several, to be taken apart again; it cannot be iterated over."""
    made = dataset_of("Stacked", _no_pass, datasets[0].element_spec)
    parts = parts_of(made)
    parts.stacked, parts.outer = list(datasets), (len(datasets), *parts_of(datasets[0]).outer)
    return made


def _no_pass():
    raise InvalidArgumentError(None, None, "A batch of datasets cannot be iterated over: unbatch it first.")


def _stacked_sparse(values: Sequence[Any]):
    shapes = [value.dense_shape.numpy() for value in values]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise InvalidArgumentError(
            None, None,
            f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[0] was {len(shapes[0])}, others "
            f"{[len(shape) for shape in shapes]}",
        )  # fmt: skip
    indices = [
        np.concatenate([np.full((len(found), 1), i, np.int64), found], 1)
        for i, found in enumerate(value.indices.numpy() for value in values)
    ]
    numbers = np.concatenate([value.values.numpy() for value in values])
    return SparseTensor(
        convert_to_tensor(np.concatenate(indices)),
        convert_to_tensor(numbers, values[0].dtype),
        convert_to_tensor(np.concatenate([[len(values)], np.max(shapes, 0)]).astype(np.int64)),
    )


def _stacked_ragged(values):
    """Row splits joined level by level: much less work than `tf.stack`, which is an op for each level."""
    first = values[0]
    kind = first.row_splits.dtype
    lengths = [[int(value.nrows()) for value in values]]
    for level in range(first.ragged_rank):
        splits = [value.nested_row_splits[level].numpy() for value in values]
        lengths.append(np.concatenate([np.diff(s) for s in splits]))
    flat = np.concatenate([value.flat_values.numpy() for value in values])
    return ragged_of(convert_to_tensor(flat, first.dtype), lengths, kind)


def ragged_of(flat, lengths: Sequence[Any], kind: DType):
    """A ragged tensor of flat values and the lengths of the rows of each level."""
    splits = [
        convert_to_tensor(np.concatenate([[0], np.cumsum(level)]).astype(kind.as_numpy_dtype))
        for level in lengths
    ]
    return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


def check_same(batch: Sequence[Tensor]):
    """Raises InvalidArgumentError for the first component whose shapes or dtypes differ."""
    columns = zip(*[element.flatten(value) for value in batch])
    for component, column in enumerate(columns):
        for number, leaf in enumerate(column):
            if leaf.shape != column[0].shape:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Cannot batch tensors with different shapes in component {component}. First "
                    f"element had shape {_bare(column[0].shape)} and element {number} had shape "
                    f"{_bare(leaf.shape)}. [Op:IteratorGetNext]",
                )
            if leaf.dtype != column[0].dtype:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Cannot batch tensors with different dtypes in component {component}. First "
                    f"element had dtype {column[0].dtype.name} and element {number} had dtype "
                    f"{leaf.dtype.name}. [Op:IteratorGetNext]",
                )


def _bare(shape):
    return "[" + ",".join(str(size) for size in shape) + "]"


def pad_and_stack(column: Sequence[Tensor], shape: Any, value: int, component: int):
    """One tensor of a component's values, each padded at its end to a common shape."""
    arrays = [np.asarray(leaf) for leaf in column]
    common = []
    for array in arrays:
        if array.ndim != len(shape):
            raise InvalidArgumentError(
                None,
                None,
                f"All elements in a batch must have the same rank as the padded shape for component "
                f"{component}: expected rank {len(shape)} but got element with rank {array.ndim}",
            )
    for axis, want in enumerate(shape):
        longest = max(array.shape[axis] for array in arrays)
        if want is not None and longest > want:
            raise DataLossError(
                None,
                None,
                "Attempted to pad to a smaller size than the input element: component "
                f"{component} has size {longest} along axis {axis}, padded to {want}. "
                "[Op:IteratorGetNext]",
            )
        common.append(longest if want is None else want)
    dtype = column[0].dtype
    kind = object if dtype == dtypes.string else arrays[0].dtype
    if not common:
        return convert_to_tensor(np.array([array[()] for array in arrays], kind), dtype)
    result = np.full([len(arrays), *common], value, kind)
    for target, array in zip(result, arrays):
        target[tuple(slice(size) for size in array.shape)] = array
    return convert_to_tensor(result, dtype)


# Ragged batches.


def ragged_spec(leaf: TensorSpec, kind: DType):
    """How a leaf of this spec stands in a ragged batch, before it is stacked."""
    if not isinstance(leaf, TensorSpec) or leaf.shape.rank is None or leaf.shape.is_fully_defined():
        return leaf
    rank = max(axis for axis, size in enumerate(leaf.shape.as_list()) if size is None)
    return RaggedTensorSpec(leaf.shape, leaf.dtype, rank, kind)


def is_row(spec):
    """Whether values of a spec are, or have, rows of a ragged tensor: tensors, of which batches are ragged again."""
    if isinstance(spec, BatchableExtensionTypeSpec):
        return any(map(is_row, nest.flatten(encoding_specs(spec))))
    return isinstance(spec, RaggedTensorSpec) and spec.ragged_rank == 0


def stack_ragged(column, spec):
    """Leaves along a new first axis: ragged where `spec`, made by `ragged_spec`, is or has parts that are."""
    if isinstance(spec, BatchableExtensionTypeSpec):
        encodings = [encoded(value) for value in column]
        columns = zip(*map(nest.flatten, encodings))
        parts = [stack_ragged(*pair) for pair in zip(columns, nest.flatten(encoding_specs(spec)))]
        return decoded(batched(spec, len(column)), nest.pack_sequence_as(encodings[0], parts))
    if not isinstance(spec, RaggedTensorSpec) or isinstance(column[0], RaggedTensor):
        return stacked(list(column))
    arrays = [np.asarray(leaf) for leaf in column]
    rank = spec.ragged_rank  # of one element: axes 1 ... rank of it become ragged too
    lengths = [[array.shape[0] for array in arrays]]
    for axis in range(1, rank + 1):
        lengths.append(
            np.concatenate(
                [np.full(int(np.prod(array.shape[:axis])), array.shape[axis], np.int64) for array in arrays]
            )
        )
    flat = [array.reshape((-1, *array.shape[rank + 1 :])) for array in arrays]
    if any(part.shape[1:] != flat[0].shape[1:] for part in flat):
        raise InvalidArgumentError(
            None, None, f"Cannot batch ragged rows whose inner shapes differ: {[a.shape for a in arrays]}"
        )
    values = convert_to_tensor(np.concatenate(flat), spec.dtype)
    return ragged_of(values, lengths, spec.row_splits_dtype)


# Sparse batches.


def sparse_rows(column: Sequence[Tensor], row_shape: Sequence[int]):
    """A sparse tensor of dense values, which are as long as `row_shape` says at most."""
    arrays = [np.asarray(leaf) for leaf in column]
    largest = []
    for axis, size in enumerate(row_shape):
        found = max(array.shape[axis] for array in arrays) if arrays[0].ndim == len(row_shape) else -1
        if size is not None and found > size:
            raise DataLossError(
                None, None,
                f"Input element had shape {[a.shape for a in arrays]} that is larger than the row shape "
                f"{list(row_shape)}. [Op:DenseToSparseBatchDataset]",
            )  # fmt: skip
        if any(array.ndim != len(row_shape) for array in arrays):
            raise InvalidArgumentError(
                None, None,
                f"Element had shape {[a.shape for a in arrays]} that is incompatible with the row shape "
                f"{list(row_shape)}. [Op:DenseToSparseBatchDataset]",
            )  # fmt: skip
        largest.append(found if size is None else size)
    indices = []
    for number, array in enumerate(arrays):
        inner = np.argwhere(np.ones(array.shape, bool)).reshape(array.size, array.ndim)
        indices.append(np.concatenate([np.full((array.size, 1), number), inner], 1))
    flat = np.concatenate([array.ravel() for array in arrays])
    return SparseTensor(
        convert_to_tensor(np.concatenate(indices).astype(np.int64)),
        convert_to_tensor(flat, column[0].dtype),
        convert_to_tensor(np.array([len(arrays), *largest], np.int64)),
    )


# Slices.


def empty_of(spec: Any):
    """The value of a spec of a batch that has no rows. Raises InvalidArgumentError for what is no tensor."""
    if spec is None:
        return None
    if not isinstance(spec, TensorSpec):
        raise InvalidArgumentError(None, None, f"There is no batch of no rows of {spec}.")
    sizes = [0, *(n or 0 for n in spec.shape.as_list()[1:])] if spec.shape.rank else [0]
    empty = np.zeros(sizes, object if spec.dtype == dtypes.string else spec.dtype.as_numpy_dtype)
    return convert_to_tensor(empty, spec.dtype)


def slice_spec(leaf):
    """The spec of the slices along axis 0 of values of a spec. Raises ValueError for scalars."""
    if leaf is None:
        return None
    if isinstance(leaf, element.DatasetSpec):
        if not leaf.dataset_shape.rank:
            raise ValueError("Cannot unbatch an input with scalar components.")
        return element.DatasetSpec(leaf.element_spec, leaf.dataset_shape[1:])
    if isinstance(leaf, ExtensionTypeSpec) and hasattr(leaf, "_unbatch"):
        return unbatched(leaf)
    if leaf.shape.rank == 0:
        raise ValueError("Cannot unbatch an input with scalar components.")
    if isinstance(leaf, RaggedTensorSpec) and leaf.ragged_rank == 0:
        return TensorSpec(leaf.shape[1:], leaf.dtype)
    return _with_shape(leaf, leaf.shape[1:] if leaf.shape.rank is not None else leaf.shape, -1)


def shape_of(spec):
    """The shape that a spec has, of tensors or of datasets; of a program's own type that of its first tensor.

    Of None, which has none, nothing is known.
    """
    if spec is None:
        return TensorShape(None)
    if isinstance(spec, ExtensionTypeSpec):
        return flat_specs(spec)[0].shape
    return spec.dataset_shape if isinstance(spec, element.DatasetSpec) else spec.shape


def outer_size(leaf):
    """How many slices a value has along axis 0."""
    if isinstance(leaf, RaggedTensor):
        return int(leaf.nrows())
    if isinstance(leaf, SparseTensor):
        return int(leaf.dense_shape.numpy()[0])
    if is_dataset(leaf):
        return len(parts_of(leaf).stacked)
    if isinstance(leaf, BatchableExtensionType):
        return outer_size(nest.flatten(encoded(leaf, 1))[0])
    if not leaf.shape.rank:
        raise InvalidArgumentError(None, None, "Input element must have a non-scalar value in each component.")
    return int(leaf.shape[0])


def slices_of(leaf):
    """A function that gives the slice of a value by its number."""
    if leaf is None:
        return lambda number: None
    if is_dataset(leaf):
        return parts_of(leaf).stacked.__getitem__
    if isinstance(leaf, BatchableExtensionType):
        spec, whole = unbatched(type_spec_of(leaf)), encoded(leaf, 1)
        parts = [slices_of(part) for part in nest.flatten(whole)]
        return lambda number: decoded(spec, nest.pack_sequence_as(whole, [part(number) for part in parts]))
    if not isinstance(leaf, SparseTensor):
        return leaf.__getitem__
    indices = leaf.indices.numpy()
    values = leaf.values.numpy()
    order = np.argsort(indices[:, 0], kind="stable")
    ends = np.searchsorted(indices[order, 0], np.arange(outer_size(leaf) + 1))
    inner = leaf.dense_shape[1:]

    def one(number: int):
        chosen = order[ends[number] : ends[number + 1]]
        return SparseTensor(
            convert_to_tensor(indices[chosen, 1:]), convert_to_tensor(values[chosen], leaf.dtype), inner
        )

    return one


def as_shape(value):
    """A shape from a shape, a list with -1 or None for what is not known, or a tensor of it."""
    if hasattr(value, "numpy"):
        value = value.numpy().tolist()
    if not isinstance(value, TensorShape):
        value = [None if size in (None, -1) else int(size) for size in value]
    return TensorShape(value)
