"""Datasets that come from values, arrays, numbers and Python generators."""

from __future__ import annotations

import functools

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures.nest_paths import flatten_with_joined_string_paths
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Counted, Pass
from tapeflow.data.sources.rows import RowStream, all_rows
from tapeflow.data.transform import stacking
from tapeflow.data.transform.selecting import graph_and_op_seed
from tapeflow.data.transform.shuffling import PhiloxStream, SeedGenerator
from tapeflow.data.transform.tracing import translated


def from_tensors(tensors):
    """Dataset arguments for one element."""
    value = element.to_element(tensors)
    if not element.flatten(value):
        raise ValueError("Invalid `element`. `element` should not be empty.")
    return "Tensor", lambda: Counted(lambda: (value,)), element.spec_of(value), 1


def from_list(elements):
    """Dataset arguments for the elements of a Python list, whose types and shapes may be common only in part."""
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    values = [element.to_element(value) for value in elements]
    spec = element.spec_of(values[0])
    for value in values[1:]:
        spec = element.map_leaves(_common, spec, element.spec_of(value))
    return "List", lambda: Counted(lambda: values), spec, len(values)


def _common(one, two):
    found = element.merge_specs(one, two)
    if found is None:
        raise TypeError(f"The elements of a list must have one type, got {one} and {two}.")
    return found


def from_tensor_slices(tensors):
    """Dataset arguments for the slices of tensors along axis 0."""
    columns = element.to_element(tensors)
    leaves = element.flatten(columns)
    if any(isinstance(leaf, element.COMPOSITES) or hasattr(leaf, "from_recipe") for leaf in leaves):
        return _composite_slices(columns)
    if not leaves:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    for leaf in leaves:
        if leaf.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if leaf.shape[0] != leaves[0].shape[0]:
            paths = flatten_with_joined_string_paths(columns)
            sizes = ", ".join(f"{each.shape[0]} of {path!r}" for path, each in paths if each.shape.rank)
            raise ValueError(
                f"Dimensions {leaves[0].shape[0]} and {leaf.shape[0]} are not compatible: each element has a slice "
                f"of each tensor, so that their first dimensions must be equal. They are {sizes}."
            )
    count = int(leaves[0].shape[0])
    spec = element.map_leaves(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), columns)
    rows = RowStream(columns, lambda: all_rows(count))
    return "TensorSlice", rows.start, spec, count, rows


def _composite_slices(columns):
    """Dataset arguments for slices where some of the columns are sparse or ragged."""
    counts = {stacking.outer_size(leaf) for leaf in element.flatten(columns)}
    if len(counts) != 1:
        first, second = sorted(counts)[:2]
        raise ValueError(f"Dimensions {first} and {second} are not compatible")
    count = counts.pop()

    slices = element.map_leaves(stacking.slices_of, columns)

    def elements():
        for number in range(count):
            yield element.map_leaves(lambda one: one(number), slices)  # noqa: B023 - used at once

    spec = element.map_leaves(lambda leaf: stacking.slice_spec(element.leaf_spec(leaf)), columns)
    return "TensorSlice", lambda: Counted(elements), spec, count


def from_sparse_tensor_slices(sparse_tensor):
    """Dataset arguments for the rows of a sparse tensor, as (indices, values, dense_shape) triples (1.x)."""
    if not isinstance(sparse_tensor, element.SparseTensor):
        raise TypeError(f"`sparse_tensor` must be a `tf.sparse.SparseTensor` object. Was {sparse_tensor}.")
    indices = sparse_tensor.indices.numpy()
    if len(indices) and (np.diff(indices[:, 0]) < 0).any():
        raise UnimplementedError(
            None, None, "The SparseTensor must be ordered in the batch dimension; handling arbitrarily "
            "ordered input is not currently supported.",
        )  # fmt: skip
    _, start, spec, count = _composite_slices(sparse_tensor)
    rank = spec.shape.rank

    def rows():
        for row in start():
            yield row.indices, row.values, row.dense_shape

    triple = (
        TensorSpec([None, rank], dtypes.int64),
        TensorSpec([None], spec.dtype),
        TensorSpec([rank], dtypes.int64),
    )
    return "SparseTensorSlice", lambda: Counted(rows), triple, count


def range_of(args, output_type=dtypes.int64, name=None):
    """Dataset arguments for an arithmetic progression."""
    if not 1 <= len(args) <= 3:
        raise ValueError(
            f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
        )
    numbers = [integer(arg, "RangeDataset") for arg in args]
    require(len(numbers) < 3 or numbers[2] != 0, "step must be a non-zero integer.", "RangeDataset")
    progression = range(*numbers)
    count = _length(progression)
    output_type = dtypes.as_dtype(output_type)
    spec = TensorSpec([], output_type)
    empty = np.empty(0, output_type.as_numpy_dtype)

    def elements():
        for block in blocks():
            yield from convert_to_tensor(block)

    def blocks(size=1024):
        kind = output_type.as_numpy_dtype
        for start in range(0, count, size):
            yield np.array(progression[start : start + size]).astype(kind)

    rows = None
    if count <= 2**22:
        column = functools.cache(lambda: convert_to_tensor(np.concatenate([*blocks(), empty])))
        rows = RowStream(column, lambda: all_rows(count))
    start = (lambda: Counted(elements)) if rows is None else rows.start
    endless = progression.step > 0 and progression.stop == 2**63 - 1  # as TensorFlow counts
    return "Range", start, spec, -1 if endless else min(count, 2**63 - 1), rows


def _length(progression: range) -> int:
    """`len`, which does not count beyond 63 bits."""
    return 0 if not progression else (progression[-1] - progression[0]) // progression.step + 1


def counter(start, step, dtype):
    """Dataset arguments for an endless arithmetic progression."""
    dtype = dtypes.as_dtype(dtype)
    start, step = convert_to_tensor(start, dtype).numpy(), convert_to_tensor(step, dtype).numpy()
    return "Counter", lambda: _Counting(start, step, dtype), TensorSpec([], dtype), -1


class _Counting(Pass):
    __slots__ = ("_dtype", "_next", "_step")

    def __init__(self, start, step, dtype):
        self._next, self._step, self._dtype = start, step, dtype

    def __next__(self):
        found = convert_to_tensor(self._next, self._dtype)
        with np.errstate(over="ignore"):
            self._next = self._next + self._step
        return found

    def save(self):
        return convert_to_tensor(self._next, self._dtype)

    def restore(self, state):
        self._next = state.numpy()


def random_numbers(seed, rerandomize_each_iteration):
    """Dataset arguments for endless int64 numbers from 0 to 2**32 - 1."""
    seeds = SeedGenerator(*graph_and_op_seed(seed), bool(rerandomize_each_iteration))
    return "Random", lambda: _Random(seeds), TensorSpec([], dtypes.int64), -1


class _Random(Pass):
    __slots__ = ("_seeds", "_stream")

    def __init__(self, seeds):
        self._seeds = seeds
        self._stream = PhiloxStream(*seeds.next_seeds())

    def __next__(self):
        return convert_to_tensor(next(self._stream), dtypes.int64)

    def save(self):
        return [self._stream._key, self._stream._high, self._stream.position, self._seeds.position]

    def restore(self, state):
        key, high, at, drawn = state
        self._stream = PhiloxStream(key, high)
        self._stream.seek(at)
        self._seeds.seek(drawn)


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

    return "FlatMap", lambda: Generated(lambda: generator(*arguments), spec), spec


class Generated(Counted):
    """The values of a generator. After an unfit one the pass goes on with the next."""

    __slots__ = ("_spec",)

    def __init__(self, begin, spec):
        super().__init__(begin)
        self._spec = spec

    def __next__(self):
        try:
            value = super().__next__()
        except StopIteration:
            raise
        except Exception as error:
            raise translated(error, "from_generator", self._count - 1) from error
        return _checked(value, self._spec)


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
        found = element.to_element(value)
        if spec is not None and not spec.is_compatible_with(found):
            raise InvalidArgumentError(
                None,
                None,
                "TypeError: `generator` yielded an element that did not match the expected structure. "
                f"The expected structure was {spec}, but the yielded element was {value}. [Op:IteratorGetNext]",
            )
        return found
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
