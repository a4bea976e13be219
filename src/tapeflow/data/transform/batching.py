"""Transformations between elements and batches of elements."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import rows_of, size_of, start_of
from tapeflow.data.transform import stacking
from tapeflow.data.transform.rebatching import Rebatched
from tapeflow.data.transform.windows import integer_or_bool
from tapeflow.ops.ragged.tensor import RaggedTensorSpec

_INFINITE = -1
_UNKNOWN = -2


def _sizes(dataset, batch_size, drop_remainder, op):
    """The batch size, whether to drop, the spec's outer size, and the number of batches."""
    size = integer(batch_size, op)
    require(size > 0, "Batch size must be greater than zero.", op)
    drop = integer_or_bool(drop_remainder)
    count = size_of(dataset)
    if count > 0:
        count = count // size if drop else -(-count // size)
    return size, drop, size if drop or size_of(dataset) == -1 else None, count


def batched(dataset, batch_size, drop_remainder, num_parallel_calls=None):
    """Dataset arguments for stacked elements."""
    kind = "Batch" if num_parallel_calls is None else "ParallelBatch"
    size, drop, outer, count = _sizes(dataset, batch_size, drop_remainder, "BatchDatasetV2")
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), dataset.element_spec)
    rows = rows_of(dataset)
    if rows is not None:
        return kind, lambda: rows.start_batches(size, drop), spec, count
    make = _stack_of(dataset.element_spec)
    return kind, lambda: Batched(start_of(dataset)(), size, drop, make), spec, count


def _stack_of(specs):
    """What makes a batch of elements of these specs."""
    flat = element.flatten(specs)
    return by_leaf(specs, flat) if any(map(stacking.is_row, flat)) else stack


def by_leaf(specs, flat):
    """What makes a batch leaf by leaf, ragged where the specs say so."""

    def make(batch):
        columns = zip(*[element.flatten(value) for value in batch])
        made = [
            stacking.stack_ragged(column, leaf) if isinstance(leaf, RaggedTensorSpec) else stack(list(column))
            for column, leaf in zip(columns, flat)
        ]
        return element.unflatten(specs, iter(made))

    return make


def stack(batch):
    """Elements stacked; InvalidArgumentError says which component does not fit."""
    try:
        return stacking.stacked(batch)
    except Exception:
        stacking.check_same(batch)
        raise


def batched_whole(dataset, batch_size, drop_remainder):
    """Dataset arguments for stacked elements where an error in an element is one of its whole batch."""
    size, drop, _, count = _sizes(dataset, batch_size, drop_remainder, "MapAndBatchDataset")
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), dataset.element_spec)
    return "MapAndBatch", lambda: _BatchedWhole(start_of(dataset)(), size, drop, _stack_whole), spec, count


class Batched(Over):
    """`make` of `size` elements at a time. An error in an element drops what was gathered before it."""

    __slots__ = ("_drop", "_make", "_over", "_size")

    def __init__(self, values, size, drop, make):
        super().__init__(values)
        self._size, self._drop, self._make = size, drop, make
        self._over = False

    def __next__(self):
        if self._over:
            raise StopIteration
        batch = []
        source, size = self._input, self._size
        for value in source:
            batch.append(value)
            if len(batch) == size:
                return self._make(batch)
        self._over = True
        if not batch or self._drop:
            raise StopIteration
        return self._make(batch)

    def save(self):
        return [self._over, self._input.save()]

    def restore(self, state):
        self._over, inner = state
        self._input.restore(inner)


def _stack_whole(batch):
    try:
        return stacking.stacked(batch)
    except Exception:
        shapes = [[str(leaf.shape) for leaf in element.flatten(value)] for value in batch]
        other = next((found for found in shapes if found != shapes[0]), None)
        if other is None:
            raise
        raise InvalidArgumentError(
            None,
            None,
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: "
            f"{', '.join(other)}, [batch]: {', '.join(shapes[0])}",
        ) from None


class _BatchedWhole(Batched):
    __slots__ = ()

    def __next__(self):
        if self._over:
            raise StopIteration
        batch, failed, count = [], None, 0
        while count < self._size:
            count += 1
            try:
                batch.append(next(self._input))
            except StopIteration:
                self._over = True
                break
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed
        if not batch or (self._over and self._drop):
            raise StopIteration
        return self._make(batch)


def padded(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """Dataset arguments for elements padded to one shape and stacked."""
    size, drop, _, count = _sizes(dataset, batch_size, drop_remainder, "PaddedBatchDatasetV2")
    specs = dataset.element_spec
    flat = element.flatten(specs)
    for leaf in flat:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                f"elements in the input dataset is not a subclass of TensorSpec: `{leaf}`."
            )
    if padded_shapes is None:
        for number, leaf in enumerate(flat):
            if leaf.shape.rank is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component "
                    f"{number} has unknown rank."
                )
        shapes = [leaf.shape.as_list() for leaf in flat]
    else:
        found = _leaves_like(specs, padded_shapes)
        shapes = [_padded_shape(shape, leaf) for shape, leaf in zip(found, flat)]
    found = _leaves_like(specs, padding_values)
    values = [_padding_value(value, leaf) for value, leaf in zip(found, flat)]

    def make(batch):
        columns = zip(*[element.flatten(value) for value in batch])
        made = [
            stacking.pad_and_stack(column, shape, value, number)
            for number, (column, shape, value) in enumerate(zip(columns, shapes, values))
        ]
        return element.unflatten(specs, iter(made))

    outer = size if drop else None
    batch_specs = [TensorSpec([outer, *shape], leaf.dtype) for shape, leaf in zip(shapes, flat)]
    spec = element.unflatten(specs, iter(batch_specs))
    return "PaddedBatch", lambda: Batched(start_of(dataset)(), size, drop, make), spec, count


def _leaves_like(specs, structure):
    """The leaves of `structure`, in which lists and shapes are leaves, along `specs`."""
    if not element.is_structure(specs):
        return [structure]
    if structure is None or (
        not element.is_structure(structure) and not isinstance(structure, (list, TensorShape))
    ):
        return [structure for _ in element.flatten(specs)]
    if hasattr(specs, "keys"):
        if not hasattr(structure, "keys"):
            raise TypeError(
                f"The two structures don't have the same sequence type. First: {specs}. Second: {structure}."
            )
        return [leaf for key in sorted(specs) for leaf in _leaves_like(specs[key], structure[key])]
    if isinstance(structure, (list, TensorShape)) and not all(
        item is None or isinstance(item, int) for item in structure
    ):
        structure = tuple(structure)
    if not isinstance(structure, tuple):
        raise TypeError(
            f"The two structures don't have the same sequence type. First: {specs}. Second: {structure}."
        )
    if len(specs) != len(structure):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {specs}. Second structure: {structure}."
        )
    return [leaf for s, part in zip(specs, structure) for leaf in _leaves_like(s, part)]


def _padded_shape(given, leaf):
    if hasattr(given, "dtype") and hasattr(given, "shape") and not given.dtype.name.startswith("int"):
        raise TypeError(
            f"Padded shape {given} must be a `tf.int64` vector tensor, but its dtype is {given.dtype}."
        )
    try:
        if hasattr(given, "shape") and hasattr(given, "numpy") and given.shape.rank != 1:
            raise ValueError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was {given.shape}."
            )
        shape = stacking.as_shape(given).as_list()
    except TypeError:
        raise TypeError(
            f"Padded shape {given} must be a shape or a `tf.int64` vector tensor."
        ) from None
    known = leaf.shape
    if known.rank is not None:
        fits = len(shape) == known.rank and all(
            want is None or have is None or have <= want
            for want, have in zip(shape, known.as_list())
        )
        if not fits:
            raise ValueError(
                f"The padded shape {TensorShape(shape)} is not compatible with the shape {known} of "
                "the corresponding input component."
            )
    return shape


def _padding_value(value, leaf):
    if value is None:
        if leaf.dtype == dtypes.string:
            return b""
        if leaf.dtype == dtypes.bool:
            return False
        if leaf.dtype == dtypes.variant:
            raise TypeError("Unable to create padding for field of type 'variant'.")
        return 0
    value = convert_to_tensor(value) if leaf.dtype != dtypes.bfloat16 else convert_to_tensor(value, leaf.dtype)
    if value.shape.rank != 0:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{value.shape}."
        )
    if value.dtype != leaf.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {value.dtype} does not match "
            f"type {leaf.dtype} of the corresponding input component."
        )
    return value.numpy()


def ragged(dataset, batch_size, drop_remainder, row_splits_dtype):
    """Dataset arguments for batches whose leaves of unknown size are ragged."""
    size, drop, _, count = _sizes(dataset, batch_size, drop_remainder, "BatchDatasetV2")
    kind = dtypes.as_dtype(row_splits_dtype)
    specs = element.map_leaves(lambda leaf: stacking.ragged_spec(leaf, kind), dataset.element_spec)
    make = by_leaf(specs, element.flatten(specs))
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), specs)
    return "RaggedBatch", lambda: Batched(start_of(dataset)(), size, drop, make), spec, count


def sparse(dataset, batch_size, row_shape):
    """Dataset arguments for batches of dense values of differing sizes as sparse tensors."""
    op = "DenseToSparseBatchDataset"
    size = integer(batch_size, op)
    require(size > 0, "Batch size must be greater than zero.", op)
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            f"`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but "
            f"the given dataset has the following component types: {spec}."
        )
    shape = stacking.as_shape(row_shape)
    rows = tuple(shape.as_list())

    def make(batch):
        return stacking.sparse_rows(batch, rows)

    made = SparseTensorSpec([None, *rows], spec.dtype)
    count = size_of(dataset) if size_of(dataset) <= 0 else -(-size_of(dataset) // size)
    return "DenseToSparseBatch", lambda: Batched(start_of(dataset)(), size, False, make), made, count


def unbatched(dataset):
    """Dataset arguments for the slices of every element."""
    spec = element.map_leaves(stacking.slice_spec, dataset.element_spec)
    shapes = [stacking.shape_of(leaf) for leaf in element.flatten(dataset.element_spec)]
    sizes = [shape[0] for shape in shapes if shape.rank is not None]
    known = [size for size in sizes if size is not None]
    if len(set(known)) > 1:
        raise ValueError(
            "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
            f"dimension. Encountered both {known[0]} and {next(n for n in known if n != known[0])}."
        )
    count = size_of(dataset)
    if count != _INFINITE:
        count = count * known[0] if known and count >= 0 else _UNKNOWN
    return "Unbatch", lambda: _Unbatched(start_of(dataset)()), spec, count


class _Unbatched(Over):
    __slots__ = ("_count", "_next", "_slices", "_value")

    def __init__(self, values):
        super().__init__(values)
        self._next = self._count = 0
        self._value = self._slices = None

    def __next__(self):
        while self._next >= self._count:
            self._take(next(self._input))
        number = self._next
        self._next += 1
        return element.map_leaves(lambda one: one(number), self._slices)

    def _take(self, value):
        columns = element.flatten(value)
        sizes = [stacking.outer_size(leaf) for leaf in columns]
        for component, size in enumerate(sizes):
            if size != sizes[0]:
                raise InvalidArgumentError(
                    None,
                    None,
                    "Input element must have the same batch size in each component. Component 0 "
                    f"had size {sizes[0]} but component {component} had size {size}. "
                    "[Op:IteratorGetNext]",
                )
        self._value, self._next, self._count = value, 0, sizes[0]
        self._slices = element.map_leaves(stacking.slices_of, value)

    def save(self):
        current = None if self._next >= self._count else [self._value, self._next]
        return [self._input.save(), current]

    def restore(self, state):
        inner, current = state
        self._input.restore(inner)
        self._next = self._count = 0
        if current is not None:
            self._take(current[0])
            self._next = current[1]


def _divides(size, specs):
    """Whether batches of these specs are all of one known size that is a multiple of `size`."""
    shapes = [stacking.shape_of(leaf) for leaf in element.flatten(specs)]
    known = {shape[0] if shape.rank else None for shape in shapes}
    return len(known) == 1 and None not in known and known.pop() % size == 0


def rebatched(dataset, batch_size, drop_remainder):
    """Dataset arguments for the same rows in batches of other sizes: of a list of sizes, in turn."""

    given = batch_size.numpy() if hasattr(batch_size, "numpy") else batch_size
    sizes = [int(n) for n in (given if hasattr(given, "__len__") else [given])]
    require(bool(sizes) and all(n >= 0 for n in sizes) and any(sizes), f"batch sizes of {sizes}", "Rebatch")
    drop = integer_or_bool(drop_remainder)
    outer = sizes[0] if len(set(sizes)) == 1 and (drop or _divides(sizes[0], dataset.element_spec)) else None

    def spec(leaf):
        return stacking.batch_spec(stacking.slice_spec(leaf), outer)

    specs = element.map_leaves(spec, dataset.element_spec)
    make = _stack_of(element.map_leaves(stacking.slice_spec, dataset.element_spec))
    return "Rebatch", lambda: Rebatched(_Unbatched(start_of(dataset)()), sizes, drop, make), specs
