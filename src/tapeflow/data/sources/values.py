"""Datasets that come from values, arrays and numbers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.public import boundaries, boundary
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.structures.nest_paths import flatten_with_joined_string_paths
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.dataset_class import is_dataset
from tapeflow.data.iteration.passes import Counted, Pass
from tapeflow.data.nodes.variants import packed
from tapeflow.data.sources.random_numbers import random_numbers
from tapeflow.data.sources.rows import RowStream, all_rows
from tapeflow.data.transform import stacking
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.ops.signature import shape_list, type_list

if TYPE_CHECKING:
    from tapeflow.core.sparse_tensor import SparseTensor
    from tapeflow.ops.ragged.tensor import RaggedTensor

_COMPONENTS = {"Toutput_types": type_list, "output_shapes": shape_list}


class SourceMethods:
    """Static methods of Dataset."""

    @staticmethod
    @boundary
    def from_tensors(tensors: TensorLike | dict[str, Any] | RaggedTensor, name: str | None = None):
        """Make a dataset of one element.

        Args:
          tensors: the element: a tensor, or a structure of tensors.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return from_tensors(tensors)

    @staticmethod
    @boundary
    def from_tensor_slices(tensors: TensorLike | dict[str, Any] | SparseTensor, name: str | None = None):
        """Give the slices of tensors along their first axis.

        Args:
          tensors: a tensor, or a structure of tensors whose first axes are of one size.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: for sizes that differ, and scalars.

        >>> dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [3.0, 4.0]})
        >>> print([int(x["a"]) for x in dataset])
        [1, 2]
        """
        return from_tensor_slices(tensors)

    @staticmethod
    @boundary
    def from_sparse_tensor_slices(sparse_tensor):
        """(indices, values, dense_shape) of each row of a sparse tensor (1.x)."""
        return from_sparse_tensor_slices(sparse_tensor)

    @staticmethod
    @boundary
    def range(*args, **kwargs):
        """Count: int64 scalars, or those of another dtype.

        Args:
          *args: `stop`, or `start, stop`, or `start, stop, step`.
          **kwargs: `output_type`, the dtype, and `name`.

        Returns:
          A dataset.

        Raises:
          ValueError: for another number of arguments.

        >>> print([int(x) for x in tf.data.Dataset.range(1, 10, 4)])
        [1, 5, 9]
        """
        return range_of(args, **kwargs)

    @staticmethod
    @boundary
    def counter(start: int = 0, step: int = 1, dtype: DTypeLike = dtypes.int64, name: str | None = None):
        """Count without end: start, start + step, ...

        Args:
          start: the first number.
          step: the distance of the numbers.
          dtype: their dtype.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return counter(start, step, dtype)

    @staticmethod
    @boundary
    def random(seed: int | None = None, rerandomize_each_iteration=None, name: str | None = None):
        """Draw int64 scalars of 32 bits at random, without end.

        Args:
          seed: an integer for the same numbers in every run; None for others.
          rerandomize_each_iteration: whether every pass draws other numbers.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return random_numbers(seed, rerandomize_each_iteration)


def _components(call: dict[str, Any]):
    return {"components": element.flatten(element.to_element(call["tensors"]))}


def _tensors_of(attrs: dict[str, Any], given: dict[str, Any]):
    return {"tensors": given["components"]}


def _of_its_own(leaf: Any) -> Any:
    """A leaf in tensors that are not the caller's, which a tape may watch."""
    if is_dataset(leaf):
        return leaf
    return nest.map_structure(
        lambda x: _native.fresh(x) if isinstance(x, _native.EagerTensor) else x, leaf, expand_composites=True
    )


@record("from_tensors", spec=lambda call: element.spec_of(element.to_element(call["tensors"])))
def from_tensors(tensors: Tensor | dict[str, Any]):
    """Dataset arguments for one element."""
    value = element.map_leaves(_of_its_own, element.to_element(tensors))
    if not element.flatten(value):
        raise ValueError("Invalid `element`. `element` should not be empty.")
    return "Tensor", lambda: Counted(lambda: (value,)), element.spec_of(value), 1


from_tensors.node(
    "TensorDataset", "components: Toutput_types -> handle: variant", {**_COMPONENTS, "metadata": ""}, stateful=True,
    reads=_tensors_of, writes=_components,
)  # fmt: skip


@record("from_list")
def from_list(elements: Sequence[Any]):
    """Dataset arguments for the elements of a Python list, whose types and shapes may be common only in part."""
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    values = [element.to_element(value) for value in elements]
    spec = element.spec_of(values[0])
    for value in values[1:]:
        spec = element.map_leaves(_common, spec, element.spec_of(value))
    return "List", lambda: Counted(lambda: values), spec, len(values)


def _rows_of(attrs, given):
    tensors, width = given["tensors"], len(attrs["output_types"])
    tensors = tensors if isinstance(tensors, tuple) else (tensors,)
    if not tensors or len(tensors) % width:
        raise InvalidArgumentError(None, None, f"{len(tensors)} tensors are no elements of {width} components")
    return {"elements": [packed(tensors[i : i + width]) for i in range(0, len(tensors), width)]}


from_list.node(
    "ListDataset", "tensors: Tinput_types -> handle: variant",
    {"Tinput_types": type_list, **ELEMENTS, "metadata": ""}, stateful=True, reads=_rows_of, written=False,
)  # fmt: skip


def _common(one: TensorSpec, two: TensorSpec):
    found = element.merge_specs(one, two)
    if found is None:
        raise TypeError(f"The elements of a list must have one type, got {one} and {two}.")
    return found


def _slices_spec(call: dict[str, Any]):
    value = element.to_element(call["tensors"])
    flat = element.flatten(value)
    if not flat:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    size = TensorShape([None])
    for leaf in flat:
        if leaf is None or is_dataset(leaf):
            continue
        if leaf.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if leaf.shape.rank is not None:
            try:
                size = size.merge_with(leaf.shape[:1])
            except ValueError:
                raise ValueError(f"Dimensions {size[0]} and {leaf.shape[0]} are not compatible") from None
    return element.map_leaves(_slice_spec, value)


def _slice_spec(leaf: Tensor):
    return stacking.slice_spec(element.leaf_spec(leaf))


@record("from_tensor_slices", spec=_slices_spec)
def from_tensor_slices(tensors: TensorLike | dict[str, Any] | SparseTensor):
    """Dataset arguments for the slices of tensors along axis 0."""
    columns = element.map_leaves(_of_its_own, element.to_element(tensors))
    leaves = element.flatten(columns)
    if any(leaf is None or isinstance(leaf, element.COMPOSITES) or is_dataset(leaf) for leaf in leaves):
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


from_tensor_slices.node(
    "TensorSliceDataset", "components: Toutput_types -> handle: variant",
    {**_COMPONENTS, "is_files": False, "metadata": "", "replicate_on_split": False}, stateful=True,
    reads=_tensors_of, writes=_components,
)  # fmt: skip


def _composite_slices(columns):
    """Dataset arguments for slices where some of the columns are sparse or ragged, or None."""
    counts = {stacking.outer_size(leaf) for leaf in element.flatten(columns) if leaf is not None}
    if not counts:
        raise ValueError("Invalid `element`. `element` should not be empty.")
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


@record("from_sparse_tensor_slices")
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


@record("range")
def range_of(args: Sequence[TensorLike], output_type: DTypeLike = dtypes.int64, name: str | None = None):
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

    def blocks(size: int = 1024):
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


range_of.node(
    "RangeDataset", "start: int64, stop: int64, step: int64 -> handle: variant",
    {**ELEMENTS, "metadata": "", "replicate_on_split": False}, stateful=True,
    reads=lambda attrs, given: {
        "args": (given["start"], given["stop"], given["step"]), "output_type": attrs["output_types"][0]
    },
    writes=lambda call: dict(zip(("start", "stop", "step"), _ends(*call["args"]))),
)  # fmt: skip


def _ends(*args):
    return (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]


def _length(progression: range) -> int:
    """`len`, which does not count beyond 63 bits."""
    return 0 if not progression else (progression[-1] - progression[0]) // progression.step + 1


@record("counter")
def counter(start: int, step: int, dtype: DTypeLike):
    """Dataset arguments for an endless arithmetic progression."""
    dtype = dtypes.as_dtype(dtype)
    start, step = convert_to_tensor(start, dtype).numpy(), convert_to_tensor(step, dtype).numpy()
    return "Counter", lambda: _Counting(start, step, dtype), TensorSpec([], dtype), -1


class _Counting(Pass):
    __slots__ = ("_dtype", "_next", "_step")

    def __init__(self, start: TensorLike, step: TensorLike, dtype: DTypeLike):
        self._next, self._step, self._dtype = start, step, dtype

    def __next__(self):
        found = convert_to_tensor(self._next, self._dtype)
        with np.errstate(over="ignore"):
            self._next = self._next + self._step
        return found

    def save(self):
        return convert_to_tensor(self._next, self._dtype)

    def restore(self, state: Tensor):
        self._next = state.numpy()


boundaries(globals())
