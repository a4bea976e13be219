"""The methods of Dataset that make another dataset of it. What each does stands in the module named in it."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.data import (
    batching,
    caching,
    combining,
    flattening,
    grouping,
    mapping,
    selecting,
    windows,
)
from tapeflow.data.building import build, in_graphs


@in_graphs("enumerate", "snapshot", "save", "bucket_by_sequence_length", "rejection_resample")
class Transforming:
    """Methods of Dataset."""

    # One element at a time

    def map(
        self,
        map_func,
        num_parallel_calls=None,
        deterministic=None,
        synchronous=None,
        use_unbounded_threadpool=False,
        name=None,
    ):
        """map_func(*element) for a tuple, map_func(element) otherwise.

        Raises ValueError for both `synchronous` and `num_parallel_calls`.
        """
        if synchronous and num_parallel_calls is not None:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to "
                f"{num_parallel_calls}."
            )
        return build(mapping.mapped(self, map_func, num_parallel_calls, deterministic), self)

    def map_with_legacy_function(
        self, map_func, num_parallel_calls=None, deterministic=None, use_unbounded_threadpool=False
    ):
        """`map` (1.x)."""
        return build(mapping.mapped(self, map_func, num_parallel_calls, deterministic), self)

    def filter(self, predicate, name=None):
        """The elements for which `predicate` returns a true scalar bool."""
        return build(mapping.filtered(self, predicate), self)

    def filter_with_legacy_function(self, predicate):
        """`filter` (1.x)."""
        return build(mapping.filtered(self, predicate), self)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func returns, one dataset after another."""
        return build(flattening.flat_mapped(self, map_func), self)

    def interleave(
        self,
        map_func,
        cycle_length=None,
        block_length=None,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """Like flat_map, but takes block_length elements in turn from cycle_length datasets."""
        made = flattening.interleaved(
            self, map_func, cycle_length, block_length, num_parallel_calls, deterministic
        )
        return build(made, self)

    def scan(self, initial_state, scan_func, name=None):
        """The outputs of `state, output = scan_func(state, element)`."""
        return build(mapping.scanned(self, initial_state, scan_func), self)

    def enumerate(self, start=0, name=None):
        """(int64 number, element) pairs."""
        numbers = type(self).range(start, 2**63 - 1)
        return type(self).zip((numbers, self))

    def prefetch(self, buffer_size, name=None):
        """Makes up to buffer_size elements ahead, in a thread, where making them takes long."""
        return build(mapping.prefetched(self, buffer_size), self)

    def ignore_errors(self, log_warning=False, name=None):
        """The elements that can be made; those that raise are left out."""
        return build(selecting.ignored_errors(self, log_warning), self)

    # Which elements, in which order

    def take(self, count, name=None):
        """The first `count` elements; all when count is -1."""
        return build(selecting.taken(self, count), self)

    def skip(self, count, name=None):
        """All but the first `count` elements; none when count is -1."""
        return build(selecting.skipped(self, count), self)

    def take_while(self, predicate, name=None):
        """Elements until `predicate` is false for the first time."""
        return build(mapping.taken_while(self, predicate), self)

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from `index` on."""
        return build(selecting.sharded(self, num_shards, index), self)

    def repeat(self, count=None, name=None):
        """`count` passes over the dataset; without end for None or -1."""
        return build(selecting.repeated(self, count), self)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Elements drawn at random from a buffer that the next buffer_size elements fill."""
        return build(selecting.shuffled(self, buffer_size, seed, reshuffle_each_iteration), self)

    def cache(self, filename="", name=None):
        """Keeps the elements of the first whole pass for later ones: in memory, or in files named `filename`."""
        return build(caching.cached(self, filename), self)

    def unique(self, name=None):
        """The elements without repetitions; they must be single tensors."""
        return build(selecting.unique(self), self)

    def concatenate(self, dataset, name=None):
        """The elements of this dataset, then those of `dataset`."""
        return build(combining.concatenated(self, dataset), self, dataset)

    # Several elements at once

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """batch_size elements stacked along a new first axis; shapes must be equal."""
        return build(batching.batched(self, batch_size, drop_remainder, num_parallel_calls), self)

    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ):
        """batch_size elements padded to a common shape and stacked."""
        made = batching.padded(self, batch_size, padded_shapes, padding_values, drop_remainder)
        return build(made, self)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
        """batch_size elements stacked; what differs in size becomes ragged."""
        return build(batching.ragged(self, batch_size, drop_remainder, row_splits_dtype), self)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """batch_size tensors, no larger than row_shape, as one sparse tensor."""
        return build(batching.sparse(self, batch_size, row_shape), self)

    def unbatch(self, name=None):
        """The slices of every element along its first axis."""
        return build(batching.unbatched(self), self)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The same rows in batches of another size, or of the sizes in a list, in turn."""
        return build(batching.rebatched(self, batch_size, drop_remainder), self)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements, `stride` apart, every `shift` elements."""
        return build(windows.windows(self, size, shift, stride, drop_remainder), self)

    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
    ):
        """reduce_func(key, dataset) of up to window_size elements with the same key."""
        size = grouping.window_size(window_size, window_size_func)
        return build(grouping.grouped(self, key_func, reduce_func, size), self)

    def bucket_by_sequence_length(
        self,
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes=None,
        padding_values=None,
        pad_to_bucket_boundary=False,
        no_padding=False,
        drop_remainder=False,
        name=None,
    ):
        """Padded batches of elements of similar length."""
        return grouping.bucketed(
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

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element) pairs of as many elements of each class as `target_dist` says."""
        from tapeflow.data import resampling

        return resampling.resampled(self, class_func, target_dist, initial_dist, seed)

    # Files

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Keeps the elements of the first whole pass in the directory `path`, for this and later programs."""
        from tapeflow.data import saving

        return saving.snapshot(self, path, compression, reader_func, shard_func)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements to the directory `path`, for `Dataset.load`."""
        from tapeflow.data import saving

        saving.save(self, path, compression, shard_func, checkpoint_args)


boundaries(globals())
