"""Transformations that stack elements: batches, dense, ragged and sparse ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import stacking
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.data.transform.windows import integer_or_bool
from tapeflow.ops.ragged.tensor import RaggedTensorSpec

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class BatchingMethods:
    """Methods of Dataset."""

    def batch(
        self, batch_size: int, drop_remainder: bool = False, num_parallel_calls: int | None = None,
        deterministic=None, name: str | None = None,
    ):
        """Stack elements along a new first axis; their shapes must be equal.

        Args:
          batch_size: how many elements a batch has.
          drop_remainder: whether a last batch that is smaller is left out.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.

        >>> dataset = tf.data.Dataset.range(5).batch(2)
        >>> print([batch.tolist() for batch in dataset.as_numpy_iterator()])
        [[0, 1], [2, 3], [4]]
        """
        return batched(self, batch_size, drop_remainder, num_parallel_calls)

    def ragged_batch(
        self, batch_size: int, drop_remainder: bool = False, row_splits_dtype: DType = dtypes.int64,
        name: str | None = None,
    ):
        """Stack elements; what differs in size becomes ragged.

        Args:
          batch_size: how many elements a batch has.
          drop_remainder: whether a last batch that is smaller is left out.
          row_splits_dtype: int32 or int64, the dtype of the ragged tensors' row splits.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.

        >>> dataset = tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).ragged_batch(3)
        >>> print(next(iter(dataset)).to_list())
        [[], [1], [2, 2]]
        """
        return ragged(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size: int, row_shape: Sequence[int], name: str | None = None):
        """Put elements into batches that are sparse tensors.

        Args:
          batch_size: how many elements a batch has.
          row_shape: the shape of a row of the batch, which elements may not exceed.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of sparse tensors `(batch, *row_shape)`.
        """
        return sparse(self, batch_size, row_shape)


def sizes_of(dataset: Dataset, batch_size: int, drop_remainder: bool, op: str):
    """The batch size, whether to drop, the spec's outer size, and the number of batches."""
    size = integer(batch_size, op)
    require(size > 0, "Batch size must be greater than zero.", op)
    drop = integer_or_bool(drop_remainder)
    count = parts_of(dataset).size
    if count > 0:
        count = count // size if drop else -(-count // size)
    return size, drop, size if drop or parts_of(dataset).size == -1 else None, count


@record("batch")
def batched(dataset: Dataset, batch_size: int, drop_remainder: bool = False, num_parallel_calls: int | None = None):
    """Dataset arguments for stacked elements."""
    kind = "Batch" if num_parallel_calls is None else "ParallelBatch"
    size, drop, outer, count = sizes_of(dataset, batch_size, drop_remainder, "BatchDatasetV2")
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), dataset.element_spec)
    rows = parts_of(dataset).rows
    if rows is not None:
        return kind, lambda: rows.start_batches(size, drop), spec, count
    make = stack_of(dataset.element_spec)
    return kind, lambda: Batched(parts_of(dataset).start(), size, drop, make), spec, count


batched.node(
    "BatchDataset", "input_dataset: variant, batch_size: int64 -> handle: variant", {**ELEMENTS, "metadata": ""},
    written=False,
)  # fmt: skip
batched.node(
    "BatchDatasetV2", "input_dataset: variant, batch_size: int64, drop_remainder: bool -> handle: variant",
    {"parallel_copy": False, **ELEMENTS, "metadata": ""},
    writes=lambda call: call if call["num_parallel_calls"] is None else None,
)  # fmt: skip
batched.node(
    "ParallelBatchDataset",
    "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> handle: variant",
    {"parallel_copy": False, **ELEMENTS, "deterministic": "default", "metadata": ""},
)  # fmt: skip


def stack_of(specs):
    """What makes a batch of elements of these specs."""
    flat = element.flatten(specs)
    return by_leaf(specs, flat) if any(map(stacking.is_row, flat)) else stack


def by_leaf(specs: RaggedTensorSpec, flat: Sequence[Any]):
    """What makes a batch leaf by leaf, ragged where the specs say so."""

    def make(batch: Sequence[Tensor]):
        columns = zip(*[element.flatten(value) for value in batch])
        made = [
            stacking.stack_ragged(column, leaf) if _may_be_ragged(leaf) else stack(list(column))
            for column, leaf in zip(columns, flat)
        ]
        return element.unflatten(specs, iter(made))

    return make


def _may_be_ragged(spec: Any) -> bool:
    return isinstance(spec, RaggedTensorSpec) or stacking.is_row(spec)


def stack(batch: Sequence[Any]):
    """Elements stacked; InvalidArgumentError says which component does not fit."""
    try:
        return stacking.stacked(batch)
    except Exception:
        stacking.check_same(batch)
        raise


@record("map_and_batch")
def batched_whole(dataset: Dataset, batch_size: int, drop_remainder: bool):
    """Dataset arguments for stacked elements where an error in an element is one of its whole batch."""
    size, drop, _, count = sizes_of(dataset, batch_size, drop_remainder, "MapAndBatchDataset")
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), dataset.element_spec)
    return "MapAndBatch", lambda: _BatchedWhole(parts_of(dataset).start(), size, drop, _stack_whole), spec, count


class Batched(Over):
    """`make` of `size` elements at a time. An error in an element drops what was gathered before it."""

    __slots__ = ("_drop", "_make", "_over", "_size")

    def __init__(self, values: Any, size: int, drop: bool, make: Callable[..., Any]):
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

    def restore(self, state: Sequence[Any]):
        self._over, inner = state
        self._input.restore(inner)


def _stack_whole(batch: Sequence[Tensor]):
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


@record("ragged_batch")
def ragged(dataset: Dataset, batch_size: int, drop_remainder: bool, row_splits_dtype: DType):
    """Dataset arguments for batches whose leaves of unknown size are ragged."""
    size, drop, _, count = sizes_of(dataset, batch_size, drop_remainder, "BatchDatasetV2")
    kind = dtypes.as_dtype(row_splits_dtype)
    specs = element.map_leaves(lambda leaf: stacking.ragged_spec(leaf, kind), dataset.element_spec)
    make = by_leaf(specs, element.flatten(specs))
    outer = size if drop else None
    spec = element.map_leaves(lambda leaf: stacking.batch_spec(leaf, outer), specs)
    return "RaggedBatch", lambda: Batched(parts_of(dataset).start(), size, drop, make), spec, count


@record("sparse_batch")
def sparse(dataset: Dataset, batch_size: int, row_shape: Sequence[int]):
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

    def make(batch: Sequence[Tensor]):
        return stacking.sparse_rows(batch, rows)

    made = SparseTensorSpec([None, *rows], spec.dtype)
    count = parts_of(dataset).size if parts_of(dataset).size <= 0 else -(-parts_of(dataset).size // size)
    return "DenseToSparseBatch", lambda: Batched(parts_of(dataset).start(), size, False, make), made, count


boundaries(globals())
