"""Transformations between elements and batches of elements."""

from __future__ import annotations

from collections import deque
from itertools import islice

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require, require_callable

_INFINITE = -1
_UNKNOWN = -2


def batched(dataset, batch_size, drop_remainder):
    """Dataset arguments for stacked elements."""
    size = integer(batch_size, "BatchDatasetV2")
    require(size > 0, "Batch size must be greater than zero.", "BatchDatasetV2")
    drop = bool(drop_remainder)
    rows = dataset._rows

    def elements():
        if rows is not None:
            return rows.batches(size, drop)
        return stacked(dataset._start(), size, drop)

    def spec():
        return element.map_leaves(lambda leaf: _batch_spec(leaf, size, drop), dataset.element_spec)

    count = dataset._size
    if count > 0:
        count = count // size if drop else -(-count // size)
    return "Batch", elements, spec, count


def _batch_spec(leaf, size, drop):
    if not isinstance(leaf, TensorSpec):
        return leaf
    if leaf.shape.rank is None:
        return TensorSpec(None, leaf.dtype)
    return TensorSpec([size if drop else None, *leaf.shape.as_list()], leaf.dtype)


def stacked(values, size, drop):
    """Batches of an iterator's values."""
    while True:
        batch = list(islice(values, size))
        if not batch or (drop and len(batch) < size):
            return
        try:
            yield element.stack(batch)
        except Exception:
            check_same_shapes(batch)
            raise
        if len(batch) < size:
            return


def check_same_shapes(batch):
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


def padded(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """Dataset arguments for elements padded to one shape and stacked."""
    size = integer(batch_size, "PaddedBatchDatasetV2")
    require(size > 0, "Batch size must be greater than zero.", "PaddedBatchDatasetV2")
    drop = bool(drop_remainder)
    specs = dataset.element_spec
    leaves = element.flatten(specs)
    if padded_shapes is None:
        for number, leaf in enumerate(leaves):
            if leaf.shape.rank is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {number} has "
                    "unknown rank."
                )
        shapes = [leaf.shape.as_list() for leaf in leaves]
    else:
        shapes = [
            _padded_shape(shape, leaf)
            for shape, leaf in zip(_leaves_like(specs, padded_shapes), leaves)
        ]
    values = [
        _padding_value(value, leaf)
        for value, leaf in zip(_leaves_like(specs, padding_values), leaves)
    ]

    def elements():
        source = iter(dataset._start())
        while True:
            batch = [element.flatten(value) for value in islice(source, size)]
            if not batch or (drop and len(batch) < size):
                return
            columns = [
                pad_and_stack(column, shape, value, number)
                for number, (column, shape, value) in enumerate(zip(zip(*batch), shapes, values))
            ]
            yield _unflatten(specs, iter(columns))

    def spec():
        outer = size if drop else None
        return _unflatten(
            specs, iter([TensorSpec([outer, *s], leaf.dtype) for s, leaf in zip(shapes, leaves)])
        )

    count = dataset._size
    if count > 0:
        count = count // size if drop else -(-count // size)
    return "PaddedBatch", elements, spec, count


def _leaves_like(specs, structure):
    """The leaves of `structure`, in which lists and shapes are leaves, along `specs`."""
    if not element.is_structure(specs):
        return [structure]
    if structure is None or not element.is_structure(structure):
        return [leaf for s in element.flatten(specs) for leaf in _leaves_like(s, structure)]
    if hasattr(specs, "keys"):
        return [leaf for key in sorted(specs) for leaf in _leaves_like(specs[key], structure[key])]
    if len(specs) != len(structure):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {specs}. Second structure: {structure}."
        )
    return [leaf for s, part in zip(specs, structure) for leaf in _leaves_like(s, part)]


def _unflatten(specs, leaves):
    """An element like `specs` of leaves in the order of `element.flatten`."""
    if hasattr(specs, "keys"):
        values = {key: _unflatten(specs[key], leaves) for key in sorted(specs)}
        return element.rebuild(specs, [values[key] for key in specs])
    if isinstance(specs, tuple):
        return element.rebuild(specs, [_unflatten(item, leaves) for item in specs])
    return next(leaves)


def _padded_shape(shape, leaf):
    if hasattr(shape, "numpy"):
        shape = shape.numpy().tolist()
    if not isinstance(shape, TensorShape):
        shape = [None if size in (None, -1) else int(size) for size in shape]
    shape = TensorShape(shape).as_list()
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
        return 0
    value = convert_to_tensor(value)
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


def pad_and_stack(column, shape, value, component):
    """One tensor of a component's values, each padded at its end to a common shape."""
    arrays = [np.asarray(leaf.numpy()) for leaf in column]
    common = []
    for axis, want in enumerate(shape):
        longest = max(array.shape[axis] for array in arrays)
        if want is not None and longest > want:
            raise InvalidArgumentError(
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


def unbatched(dataset):
    """Dataset arguments for the slices of every element."""

    def elements():
        for value in dataset._start():
            columns = element.flatten(value)
            count = columns[0].shape[0]
            for leaf in columns:
                if leaf.shape[0] != count:
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"Input element must have the same batch size in each component. Component 0 "
                        f"had size {count} but component {columns.index(leaf)} had size "
                        f"{leaf.shape[0]}. [Op:IteratorGetNext]",
                    )
            for i in range(count):
                yield element.map_leaves(lambda leaf: leaf[i], value)  # noqa: B023 - used at once

    def spec():
        def slice_spec(leaf):
            if leaf.shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
            shape = None if leaf.shape.rank is None else leaf.shape[1:]
            return TensorSpec(shape, leaf.dtype)

        return element.map_leaves(slice_spec, dataset.element_spec)

    if not callable(dataset._spec):
        spec = spec()
    return "Unbatch", elements, spec


def windows(dataset, size, shift, stride, drop_remainder):
    """Dataset arguments for datasets of consecutive elements."""
    op = "WindowDataset"
    size, stride = integer(size, op), integer(stride, op)
    shift = size if shift is None else integer(shift, op)
    require(size > 0, f"Window size must be greater than zero, but got {size}", op)
    require(shift > 0, f"Window shift must be greater than zero, but got {shift}", op)
    require(stride > 0, f"Window stride must be greater than zero, but got {stride}", op)
    span = (size - 1) * stride + 1

    def elements():
        source = iter(dataset._start())
        buffer = deque(islice(source, span))
        while buffer:
            if drop_remainder and len(buffer) < span:
                return
            values = list(islice(buffer, 0, span, stride))
            yield (
                element.map_leaves(lambda *column: in_memory(column), *values)
                if element.is_structure(values[0])
                else in_memory(values)
            )
            for _ in range(min(shift, len(buffer))):
                buffer.popleft()
            if shift > span:
                next(islice(source, shift - span - 1, shift - span), None)
            buffer.extend(islice(source, span - len(buffer)))

    def spec():
        return element.map_leaves(element.DatasetSpec, dataset.element_spec)

    return "Window", elements, spec


def in_memory(values):
    """A dataset of the given elements."""
    from tapeflow.data.dataset import Dataset

    values = list(values)
    return Dataset("Window", lambda: iter(values), lambda: element.spec_of(values[0]), len(values))


def grouped(dataset, key_func, reduce_func, window_size, window_size_func):
    """Dataset arguments for reductions of elements with the same key."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError(
            "Either the `window_size` argument or the `window_size_func` argument must be specified."
        )
    require_callable(key_func)
    require_callable(reduce_func)

    def limit(key):
        size = window_size if window_size_func is None else window_size_func(key)
        size = integer(size, "GroupByWindowDataset")
        require(
            size > 0, f"Window size must be greater than zero, but got {size}.", "GroupByWindow"
        )
        return size

    def elements():
        groups = {}
        for value in dataset._start():
            key = key_func(*value) if type(value) is tuple else key_func(value)
            key = convert_to_tensor(key, dtypes.int64)
            group = groups.setdefault(int(key), [])
            group.append(value)
            if len(group) >= limit(key):
                del groups[int(key)]
                yield from reduce_func(key, in_memory(group))._start()
        for number in sorted(groups):
            key = convert_to_tensor(number, dtypes.int64)
            yield from reduce_func(key, in_memory(groups[number]))._start()

    def spec():
        if hasattr(reduce_func, "spec"):
            return reduce_func.spec.element_spec
        for value in dataset._start():
            return reduce_func(convert_to_tensor(0, dtypes.int64), in_memory([value])).element_spec
        return dataset.element_spec

    return "GroupByWindow", elements, spec


def bucketed(
    dataset,
    length_func,
    boundaries,
    batch_sizes,
    padded_shapes,
    padding_values,
    pad_to_boundary,
    no_padding,
    drop_remainder,
):
    """A dataset of batches of elements whose lengths lie between the same two boundaries."""
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len("
            f"bucket_batch_sizes)={len(batch_sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
        )

    def bucket(*value):
        return int(np.searchsorted(boundaries, int(length_func(*value)), side="right"))

    def make_batch(key, group):
        size = batch_sizes[int(key)]
        if no_padding:
            return group.batch(size, drop_remainder)
        shapes = padded_shapes
        if shapes is None:
            shapes = element.map_leaves(
                lambda leaf: TensorShape([None] * leaf.shape.rank), group.element_spec
            )
        if pad_to_boundary:
            if int(key) >= len(boundaries):
                raise InvalidArgumentError(
                    None,
                    None,
                    "When pad_to_bucket_boundary=True, elements must have length < "
                    "max(bucket_boundaries).",
                )
            full = boundaries[int(key)] - 1
            shapes = element.map_leaves(
                lambda s: TensorShape([full if d is None else d for d in TensorShape(s).as_list()]),
                shapes,
            )
        return group.padded_batch(size, shapes, padding_values, drop_remainder)

    return dataset.group_by_window(
        bucket, make_batch, window_size_func=lambda key: batch_sizes[int(key)]
    )
