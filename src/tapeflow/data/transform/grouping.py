"""Transformations of elements by a key: group_by_window, group_by_reducer, buckets by length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.arguments import integer, require, require_callable
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Counted, Over, later
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import as_they_are, record, to_key
from tapeflow.data.transform.tracing import Traced, of_elements, translated
from tapeflow.data.transform.windows import in_memory
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control.assertions import assert_less
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import less
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_min

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

KEY = TensorSpec([], dtypes.int64)


class GroupingMethods:
    """Methods of Dataset."""

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None, name: str | None = None,
    ):
        """Make datasets of elements with the same key, each through a function.

        Args:
          key_func: a function of an element that gives an int64 scalar.
          reduce_func: a function of a key and a dataset of elements that gives a dataset.
          window_size: how many elements of a key make a dataset.
          window_size_func: a function of a key that gives that number, instead of `window_size`.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: unless one of both sizes is given.
        """
        return grouped(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes=None, padding_values=None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ):
        """Make padded batches of elements of similar length.

        Args:
          element_length_func: a function of an element that gives its length, an int32 or int64 scalar.
          bucket_boundaries: the ascending lengths that buckets begin with.
          bucket_batch_sizes: the batch size of each bucket, one more than boundaries.
          padded_shapes: as that of `padded_batch`.
          padding_values: as that of `padded_batch`.
          pad_to_bucket_boundary: whether elements are padded to the length before the next bucket, instead of to the
            longest of the batch.
          no_padding: whether elements of a batch have one length anyway.
          drop_remainder: whether a last batch that is smaller is left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.

        Raises:
          ValueError: for another number of batch sizes.
        """
        return bucketed(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )


def check_key(spec: TensorSpec, name: str = "key_func"):
    """Raises ValueError for a function that does not return a scalar int64."""
    if not (
        isinstance(spec, TensorSpec) and spec.dtype == dtypes.int64 and spec.shape.is_compatible_with([])
    ):
        raise ValueError(
            f"Invalid `{name}`. `{name}` must return a single `tf.int64` scalar tensor, but its return type "
            f"is {spec}."
        )


class _Constant:
    """A window size that is the same for all keys, in place of a function."""

    spec = KEY
    inputs = ()

    def __init__(self, size: int):
        self._size = size

    def begun(self):
        return lambda key: self._size


def window_size(size: int | None, function: Traced | None):
    """The function that gives the size of windows. Raises ValueError unless one of the two is given."""
    if (size is None) == (function is None):
        raise ValueError(
            "Either the `window_size` argument or the `window_size_func` argument must be specified."
        )
    return _Constant(integer(size, "GroupByWindowDataset")) if function is None else function


def _to_dataset(name: str, arguments: dict[str, Any], function: Callable[..., Any]):
    """Trace a function of a key and a dataset of elements."""
    require_callable(function)
    return Traced(function, [KEY, DatasetSpec(arguments["dataset"].element_spec)], name, False)


def _to_size(name: str, arguments: dict[str, Any], function: Callable[..., Any] | None):
    """Trace a function of a key that gives an int64."""
    if function is None:
        return None
    require_callable(function)
    return Traced(function, [KEY], name, False, dtypes.int64)


@record("group_by_window", functions={"key_func": to_key, "reduce_func": _to_dataset, "window_size_func": _to_size})
def grouped(dataset: Dataset, key_func: Any, reduce_func: Traced, size: int | None, window_size_func: Traced | None):
    """Dataset arguments for reductions of elements with the same key."""
    size_func = window_size(size, window_size_func)
    check_key(key_func.spec)
    check_key(size_func.spec, "window_size_func")
    if not isinstance(reduce_func.spec, DatasetSpec):
        raise TypeError(
            f"Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object, but its return "
            f"type is {reduce_func.spec}."
        )

    def start():
        return _Grouped(dataset, key_func, reduce_func, size_func)

    return "GroupByWindow", start, reduce_func.spec.element_spec


class _Grouped(Over):
    __slots__ = ("_current", "_group", "_groups", "_key", "_over", "_position", "_reduce", "_size", "_spec", "_start")

    def __init__(self, dataset, key_func, reduce_func, size_func):
        super().__init__(parts_of(dataset).start())
        self._spec = dataset.element_spec
        self._key = of_elements(key_func)
        self._reduce = reduce_func.begun()
        self._size = size_func.begun()
        self._start = later(lambda key, group: parts_of(self._reduce(key, group)).start())
        self._groups = {}  # key -> elements
        self._group = None  # (key, elements) of the current dataset
        self._current = None
        self._over = False
        self._position = -1

    def __next__(self):
        while True:
            if self._current is not None:
                try:
                    return next(self._current)
                except StopIteration:
                    self._current = None
            if self._over:
                if not self._groups:
                    raise StopIteration
                self._begin(min(self._groups))
                continue
            try:
                value = next(self._input)
            except StopIteration:
                self._over = True
                continue
            self._position += 1
            self._take(value)

    def _take(self, value: Tensor):
        try:
            key = self._key(value)
            number = int(key)
            group = self._groups.setdefault(number, [])
            size = int(self._size(key))
            require(
                size > 0, f"Window size must be greater than zero, but got {size}.", "GroupByWindowDataset"
            )
            group.append(value)
            if len(group) >= size:
                self._begin(number)
        except Exception as error:
            raise translated(error, "group_by_window", self._position) from error

    def _begin(self, number):
        self._group = [number, self._groups.pop(number)]
        self._open()

    def _open(self):
        number, values = self._group
        self._current = self._start(convert_to_tensor(number, dtypes.int64), in_memory(values, self._spec))

    def save(self):
        current = None if self._current is None else [self._group, self._current.save()]
        return [self._input.save(), self._groups, current, self._over, self._position]

    def restore(self, state):
        inner, self._groups, current, self._over, self._position = state
        self._input.restore(inner)
        self._current = None
        if current is not None:
            self._group, inside = current
            self._open()
            self._current.restore(inside)


@record(
    "group_by_reducer",
    functions=dict.fromkeys(("key_func", "init", "reduce", "finalize"), as_they_are),
)
def reduced_by_key(dataset: Dataset, key_func: Traced, init: Traced, reduce: Traced, finalize: Traced):
    """Dataset arguments for one result of a fold for each key, in the order of the keys' first elements."""
    check_key(key_func.spec)

    def results():
        find, first, fold, last = of_elements(key_func), init.begun(), reduce.begun(), of_elements(finalize)
        states = {}
        for position, value in enumerate(parts_of(dataset).start()):
            try:
                key = find(value)
                number = int(key)
                if number not in states:
                    states[number] = first(key)
                states[number] = fold(states[number], value)
            except Exception as error:
                raise translated(error, "group_by_reducer", position) from error
        for number in sorted(states):
            yield _finished(last, states[number])

    return "GroupByReducer", lambda: Counted(results), finalize.spec


def _finished(last: Callable[..., Any], state: Sequence[Tensor]):
    return last(state)


def bucketed(
    dataset, length_func: Callable[..., Any], boundaries: Sequence[int], batch_sizes: Sequence[int], padded_shapes,
    padding_values, pad_to_boundary: bool, no_padding: bool, drop_remainder: bool,
):
    """A dataset of batches of elements whose lengths lie between the same two boundaries."""
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len("
            f"bucket_batch_sizes)={len(batch_sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
        )
    sizes = np.array(batch_sizes, np.int64)
    largest = np.iinfo(np.int32).max
    lower = np.array([np.iinfo(np.int32).min, *boundaries], np.int32)
    upper = np.array([*boundaries, largest], np.int32)

    def bucket(*value):
        length = cast(length_func(*value), dtypes.int32)
        found = logical_and(convert_to_tensor(lower) <= length, less(length, convert_to_tensor(upper)))
        return reduce_min(where(found))

    def size_of(key: Tensor):
        return gather(convert_to_tensor(sizes), key)

    def make_batch(key: Tensor, group: Dataset):
        size = size_of(key)
        if no_padding:
            return group.batch(size, drop_remainder)
        none_filler = None
        if pad_to_boundary:
            message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            check = assert_less(key, convert_to_tensor(np.int64(len(sizes) - 1)), message=message)
            with control_dependencies([check] if check is not None else []):
                none_filler = gather(convert_to_tensor(np.array([*boundaries, 0], np.int64)), key) - 1
        shapes = padded_shapes
        if shapes is None:
            shapes = element.map_leaves(lambda leaf: leaf.shape, group.element_spec)
        shapes = _filled(shapes, none_filler, group.element_spec)
        return group.padded_batch(size, shapes, padding_values, drop_remainder)

    return dataset.group_by_window(bucket, make_batch, window_size_func=size_of)


def _filled(shapes: TensorShape, filler: Tensor | None, specs: TensorSpec):
    """Shapes whose unknown sizes are `filler`."""
    if filler is None:
        return shapes

    def fill(_: TensorSpec, shape: ShapeLike):
        sizes = TensorShape(shape).as_list()
        if None not in sizes:
            return shape
        parts = [filler if size is None else convert_to_tensor(np.int64(size)) for size in sizes]
        return stack(parts)

    return _along(fill, specs, shapes)


def _along(fn: Callable[..., Any], specs, structure):
    if not element.is_structure(specs):
        return fn(specs, structure)
    if hasattr(specs, "keys"):
        return element.rebuild(specs, [_along(fn, specs[key], structure[key]) for key in specs])
    return element.rebuild(specs, [_along(fn, s, part) for s, part in zip(specs, structure)])


boundaries(globals())
