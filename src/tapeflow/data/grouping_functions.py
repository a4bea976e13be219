"""Transformations by groups, lengths and batches as functions, from before they were methods of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.data import element, leaves
from tapeflow.data.dataset import Dataset
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import batching, grouping
from tapeflow.data.transform.folding import fold_specs
from tapeflow.data.transform.record import spread_specs
from tapeflow.data.transform.tracing import Traced
from tapeflow.data.transformations import assert_cardinality


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size=None,
    window_size_func: Callable[..., Any] | None = None,
):
    """Make a transformation: see `Dataset.group_by_window`.

    Args:
      key_func: a function of an element that gives an int64 scalar.
      reduce_func: a function of a key and a dataset of elements that gives a dataset.
      window_size: how many elements of a key make a dataset.
      window_size_func: a function of a key that gives that number, instead of `window_size`.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
):
    """Make a transformation: see `Dataset.bucket_by_sequence_length`.

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

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


class Reducer:
    """What `group_by_reducer` does with the elements of a key.

    Args:
      init_func: a function of the key that gives the first state.
      reduce_func: a function of the state and an element that gives the next state.
      finalize_func: a function of the last state that gives the result.
    """

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ):
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self):
        """The first state, of a key."""
        return self._init_func

    @property
    def reduce_func(self):
        """The next state, of a state and an element."""
        return self._reduce_func

    @property
    def finalize_func(self):
        """The result, of the last state."""
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer):
    """Make a transformation: one result for each key, of a fold over its elements, in the order of the keys.

    Args:
      key_func: a function of an element that gives an int64 scalar.
      reducer: a `Reducer`.

    Returns:
      A function for `Dataset.apply`.
    """

    def apply(dataset: Dataset):
        specs, spread = spread_specs(dataset)
        name = "group_by_reducer"
        key = Traced(key_func, specs, name, spread)
        init = Traced(reducer.init_func, [grouping.KEY], name, False)
        reduce, kept = fold_specs(reducer.reduce_func, init.spec, dataset.element_spec, "reduce")
        spread = type(kept) is tuple
        finalize = Traced(reducer.finalize_func, list(kept) if spread else [kept], name, spread)
        return grouping.reduced_by_key(dataset, key, init, reduce, finalize)

    return apply


def map_and_batch(
    map_func: Callable[..., Any], batch_size: int, num_parallel_batches=None, drop_remainder: bool = False,
    num_parallel_calls=None,
):
    """Make a transformation: map, then batch. An error in an element is one of its whole batch.

    Args:
      map_func: a function of an element.
      batch_size: how many elements a batch has.
      num_parallel_batches: how many batches are made at once.
      drop_remainder: whether a last batch that is smaller is left out.
      num_parallel_calls: how many calls run at once; not together with the number of batches.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: where both kinds of parallelism are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` as set to "
            f"{num_parallel_calls}."
        )
    calls = num_parallel_calls
    if calls is None and num_parallel_batches is not None:
        calls = -1
    return lambda dataset: batching.batched_whole(dataset.map(map_func, calls), batch_size, drop_remainder)


map_and_batch_with_legacy_function = map_and_batch


def dense_to_ragged_batch(batch_size: int, drop_remainder: bool = False, row_splits_dtype=dtypes.int64):
    """Make a transformation: see `Dataset.ragged_batch`.

    Args:
      batch_size: how many elements a batch has.
      drop_remainder: whether a last batch that is smaller is left out.
      row_splits_dtype: int32 or int64, the dtype of the ragged tensors' row splits.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: int, row_shape):
    """Make a transformation: see `Dataset.sparse_batch`.

    Args:
      batch_size: how many elements a batch has.
      row_shape: the shape of a row of the batch, which elements may not exceed.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid"):
    """Make a transformation of datasets of dicts: fill up with elements of zeros, and mark those that are real.

    Args:
      cardinality: how many elements there are in all.
      mask_key: the key that says whether an element is real.

    Returns:
      A function for `Dataset.apply`.
    """

    def apply(dataset: Dataset):
        spec = dataset.element_spec
        size = parts_of(dataset).size
        if not hasattr(spec, "keys"):
            raise ValueError(f"`pad_to_cardinality` requires its input dataset to be a dictionary, not {spec}.")
        if size == -2:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality -2"
            )
        if size == -1 or size > cardinality:
            raise ValueError(
                f"The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target "
                f"cardinality ({cardinality}), but has cardinality {size}"
            )
        blank = element.unflatten(spec, iter(leaves.blank(spec)))
        true = dataset.map(lambda features: {**features, mask_key: True})
        false = Dataset.from_tensors({**blank, mask_key: False}).repeat(cardinality - size)
        return true.concatenate(false).apply(assert_cardinality(cardinality))

    return apply


boundaries(globals())
