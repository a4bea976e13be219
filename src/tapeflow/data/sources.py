"""Datasets that come from values, arrays, numbers and Python generators."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.rows import RowStream, all_rows
from tapeflow.ops.ragged_tensor import RaggedTensorSpec


def from_tensors(tensors):
    """Dataset arguments for one element."""
    value = element.to_element(tensors)
    if not element.flatten(value):
        raise ValueError("Invalid `element`. `element` should not be empty.")
    return "Tensor", lambda: iter((value,)), element.spec_of(value), 1


def from_tensor_slices(tensors):
    """Dataset arguments for the slices of tensors along axis 0."""
    if isinstance(tensors, list) and tensors and all(hasattr(x, "element_spec") for x in tensors):
        datasets = list(tensors)
        spec = element.leaf_spec(datasets[0])
        return "TensorSlice", lambda: iter(datasets), spec, len(datasets)
    columns = element.to_element(tensors)
    leaves = element.flatten(columns)
    if any(isinstance(leaf, element.COMPOSITES) for leaf in leaves):
        return _composite_slices(columns)
    if not leaves:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    for leaf in leaves:
        if leaf.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if leaf.shape[0] != leaves[0].shape[0]:
            raise ValueError(
                f"Dimensions {leaves[0].shape[0]} and {leaf.shape[0]} are not compatible"
            )
    count = int(leaves[0].shape[0])
    spec = element.map_leaves(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), columns)
    rows = RowStream(columns, lambda: all_rows(count))
    return "TensorSlice", rows.elements, spec, count, rows


def _composite_slices(columns):
    """Dataset arguments for slices where some of the columns are sparse or ragged."""
    counts = {int(_outer(leaf)) for leaf in element.flatten(columns)}
    if len(counts) != 1:
        first, second = sorted(counts)[:2]
        raise ValueError(f"Dimensions {first} and {second} are not compatible")
    count = counts.pop()

    def elements():
        for number in range(count):
            yield element.map_leaves(lambda leaf: _slice(leaf, number), columns)  # noqa: B023 - used at once

    def spec(leaf):
        whole = element.leaf_spec(leaf)
        if isinstance(whole, RaggedTensorSpec):
            if whole.ragged_rank == 1:
                return TensorSpec([None, *leaf.flat_values.shape[1:]], leaf.dtype)
            return RaggedTensorSpec(leaf.shape[1:], leaf.dtype, whole.ragged_rank - 1, whole.row_splits_dtype)
        return type(whole)(leaf.shape[1:], leaf.dtype)

    return "TensorSlice", elements, element.map_leaves(spec, columns), count


def _outer(leaf):
    return leaf.nrows() if isinstance(leaf, element.RaggedTensor) else leaf.shape[0]


def _slice(leaf, number):
    if not isinstance(leaf, element.SparseTensor):
        return leaf[number]
    indices = leaf.indices.numpy()
    chosen = indices[:, 0] == number
    return element.SparseTensor(
        convert_to_tensor(indices[chosen, 1:]),
        convert_to_tensor(leaf.values.numpy()[chosen], leaf.dtype),
        leaf.dense_shape[1:],
    )


def range_of(args, output_type=dtypes.int64, name=None):
    """Dataset arguments for an arithmetic progression."""
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
        )
    numbers = [integer(arg, "RangeDataset") for arg in args]
    require(len(numbers) < 3 or numbers[2] != 0, "step must be a non-zero integer.", "RangeDataset")
    progression = range(*numbers)
    output_type = dtypes.as_dtype(output_type)
    spec = TensorSpec([], output_type)
    empty = np.empty(0, output_type.as_numpy_dtype)

    def elements():
        for block in blocks():
            yield from convert_to_tensor(block)

    def blocks(size=1024):
        kind = output_type.as_numpy_dtype
        for start in range(0, len(progression), size):
            yield np.array(progression[start : start + size]).astype(kind)

    rows = None
    if len(progression) <= 2**22:
        column = functools.cache(lambda: convert_to_tensor(np.concatenate([*blocks(), empty])))
        rows = RowStream(column, lambda: all_rows(len(progression)))
    return "Range", elements, spec, len(progression), rows


def counter(start, step, dtype):
    """Dataset arguments for an endless arithmetic progression."""
    dtype = dtypes.as_dtype(dtype)

    def elements():
        for number in itertools.count(start, step):
            yield convert_to_tensor(number, dtype)

    return "Counter", elements, TensorSpec([], dtype), -1


def from_generator(generator, output_types, output_shapes, args, output_signature):
    """Dataset arguments for the values of a generator function."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments are mutually exclusive with "
                "`output_signature`."
            )
        spec = _tuples_for_lists(output_signature)
    elif output_types is None:
        raise TypeError("Either `output_signature` or `output_types` must be specified.")
    else:
        types = element.map_leaves(dtypes.as_dtype, _tuples_for_lists(output_types))
        if output_shapes is None:
            spec = element.map_leaves(lambda t: TensorSpec(None, t), types)
        else:
            spec = _with_shapes(types, output_shapes)
    arguments = () if args is None else tuple(convert_to_tensor(a).numpy() for a in args)

    return "FlatMap", lambda: _Generated(generator(*arguments), spec), spec


class _Generated:
    """The values of a generator. After an unfit one the pass goes on with the next."""

    def __init__(self, values, spec):
        self._values = iter(values)
        self._spec = spec

    def __iter__(self):
        return self

    def __next__(self):
        return _checked(next(self._values), self._spec)


def _tuples_for_lists(structure):
    if isinstance(structure, list):
        return tuple(_tuples_for_lists(item) for item in structure)
    if element.is_structure(structure):
        items = [_tuples_for_lists(item) for item in element.children(structure)]
        return element.rebuild(structure, items)
    return structure


def _with_shapes(types, shapes):
    if not element.is_structure(types):
        return TensorSpec(TensorShape(shapes), types)
    if hasattr(types, "keys"):
        return element.rebuild(types, [_with_shapes(types[k], shapes[k]) for k in types])
    return element.rebuild(types, [_with_shapes(t, s) for t, s in zip(types, shapes, strict=True)])


def _checked(value, spec):
    """A generator's value as an element; raises InvalidArgumentError where it breaks its promise."""
    if isinstance(value, list) and isinstance(spec, tuple):
        value = tuple(value)
    if not element.is_structure(spec):
        return _checked_leaf(value, spec)
    try:
        return element.map_leaves(lambda s, leaf: _checked_leaf(leaf, s), spec, value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            None,
            None,
            "TypeError: `generator` yielded an element that did not match the expected structure. "
            f"The expected structure was {element.map_leaves(lambda s: s.dtype, spec)}, but the "
            f"yielded element was {value}. [Op:IteratorGetNext]",
        ) from None


def _checked_leaf(value, spec):
    if not isinstance(spec, TensorSpec):
        return value
    try:
        given = value if isinstance(value, Tensor) else np.asarray(value)
        if (
            spec.dtype != dtypes.string
            and isinstance(given, np.ndarray)
            and given.dtype.kind in "OSU"
        ):
            raise TypeError
        tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            None,
            None,
            "TypeError: `generator` yielded an element that could not be converted to the expected "
            f"type. The expected type was {spec.dtype.name}, but the yielded element was {value}. "
            "[Op:IteratorGetNext]",
        ) from None
    if not spec.shape.is_compatible_with(tensor.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"TypeError: `generator` yielded an element of shape {tensor.shape} where an element of "
            f"shape {spec.shape} was expected. [Op:IteratorGetNext]",
        )
    return tensor
