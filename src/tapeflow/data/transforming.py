"""The methods of Dataset that make another dataset of it. What each does stands in the module named in it."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.public import boundaries
from tapeflow.data.building import build, in_graphs
from tapeflow.data.sources import saving
from tapeflow.data.transform import (
    batching,
    caching,
    combining,
    flattening,
    grouping,
    mapping,
    resampling,
    selecting,
    windows,
)


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
        """Apply a function to each element.

        Args:
          map_func: a function of the parts of an element that is a tuple, and of the element otherwise; it is traced
            once, so that Python code in it runs once.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          synchronous: whether calls run in the thread that takes the elements; None where there are no parallel
            calls.
          use_unbounded_threadpool: accepted; threads are shared.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of the results.

        Raises:
          ValueError: for both `synchronous` and `num_parallel_calls`.

        >>> print([int(x) for x in tf.data.Dataset.range(3).map(lambda x: x * 10)])
        [0, 10, 20]
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
        """Apply a function to each element, as `map` does (1.x).

        Args:
          map_func: a function of the parts of an element that is a tuple, and of the element otherwise.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          use_unbounded_threadpool: accepted; threads are shared.

        Returns:
          A dataset of the results.
        """
        return build(mapping.mapped(self, map_func, num_parallel_calls, deterministic), self)

    def filter(self, predicate, name=None):
        """Keep the elements for which a function is true.

        Args:
          predicate: a function of an element that gives a scalar bool.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: for a function that gives something else.

        >>> print([int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0)])
        [0, 2, 4]
        """
        return build(mapping.filtered(self, predicate), self)

    def filter_with_legacy_function(self, predicate):
        """`filter` (1.x)."""
        return build(mapping.filtered(self, predicate), self)

    def flat_map(self, map_func, name=None):
        """Give the elements of the datasets that a function makes, one dataset after another.

        Args:
          map_func: a function of an element that gives a dataset.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          TypeError: for a function that gives something else.

        >>> dataset = tf.data.Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(x))
        >>> print([int(x) for x in dataset])
        [0, 0, 1]
        """
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
        """Take elements in turn from several of the datasets that a function makes.

        Args:
          map_func: a function of an element that gives a dataset.
          cycle_length: from how many datasets elements are taken in turn; None for as many as there are parallel
            calls.
          block_length: how many elements are taken from a dataset before the next; None for 1.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2]).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2)
        >>> print([int(x) for x in dataset])
        [1, 2, 1, 2, 1, 2]
        """
        made = flattening.interleaved(
            self, map_func, cycle_length, block_length, num_parallel_calls, deterministic
        )
        return build(made, self)

    def scan(self, initial_state, scan_func, name=None):
        """Apply a function that carries a state from element to element.

        Args:
          initial_state: the state to start from, a structure of tensors.
          scan_func: a function of the state and an element that gives (the next state, an output).
          name: the name of the transformation in a graph.

        Returns:
          A dataset of the outputs.

        Raises:
          TypeError: for a function whose states are of another structure or dtype.

        >>> sums = tf.data.Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))
        >>> print([int(x) for x in sums])
        [0, 1, 3, 6]
        """
        return build(mapping.scanned(self, initial_state, scan_func), self)

    def enumerate(self, start=0, name=None):
        """Number the elements.

        Args:
          start: the first number.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of (int64 number, element) pairs.

        >>> print(list(tf.data.Dataset.from_tensor_slices([7, 8]).enumerate().as_numpy_iterator()) == [(0, 7), (1, 8)])
        True
        """
        numbers = type(self).range(start, 2**63 - 1)
        return type(self).zip((numbers, self))

    def prefetch(self, buffer_size, name=None):
        """Make elements ahead, in a thread, where making them takes long.

        Args:
          buffer_size: how many; `tf.data.AUTOTUNE` for as many as are useful.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return build(mapping.prefetched(self, buffer_size), self)

    def ignore_errors(self, log_warning=False, name=None):
        """Leave out the elements that raise errors when they are made.

        Args:
          log_warning: whether a line is logged for each.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return build(selecting.ignored_errors(self, log_warning), self)

    # Which elements, in which order

    def take(self, count, name=None):
        """Keep the first elements.

        Args:
          count: how many; -1 for all.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print([int(x) for x in tf.data.Dataset.range(10).take(3)])
        [0, 1, 2]
        """
        return build(selecting.taken(self, count), self)

    def skip(self, count, name=None):
        """Leave out the first elements.

        Args:
          count: how many; -1 for all.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return build(selecting.skipped(self, count), self)

    def take_while(self, predicate, name=None):
        """Keep the elements until a function is false for the first time.

        Args:
          predicate: a function of an element that gives a scalar bool.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: for a function that gives something else.
        """
        return build(mapping.taken_while(self, predicate), self)

    def shard(self, num_shards, index, name=None):
        """Keep every num_shards-th element.

        Args:
          num_shards: the number of parts.
          index: which part this is, from 0.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          InvalidArgumentError: for an index out of range.

        >>> print([int(x) for x in tf.data.Dataset.range(6).shard(3, 1)])
        [1, 4]
        """
        return build(selecting.sharded(self, num_shards, index), self)

    def repeat(self, count=None, name=None):
        """Pass over the dataset several times.

        Args:
          count: how often; None or -1 for without end.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print([int(x) for x in tf.data.Dataset.range(2).repeat(2)])
        [0, 1, 0, 1]
        """
        return build(selecting.repeated(self, count), self)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Draw elements at random from a buffer that the next elements fill.

        Args:
          buffer_size: how many elements the buffer holds; for a uniform shuffle at least as many as there are.
          seed: an integer for the same order in every run; None for others.
          reshuffle_each_iteration: whether every pass has another order; None for True.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> print(sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(4, seed=1)))
        [0, 1, 2, 3]
        """
        return build(selecting.shuffled(self, buffer_size, seed, reshuffle_each_iteration), self)

    def cache(self, filename="", name=None):
        """Keep the elements of the first whole pass for later ones: in memory, or in files.

        Args:
          filename: how the files' names begin; "" for memory.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return build(caching.cached(self, filename), self)

    def unique(self, name=None):
        """The elements without repetitions; they must be single tensors."""
        return build(selecting.unique(self), self)

    def concatenate(self, dataset, name=None):
        """Give the elements of this dataset, then those of another one.

        Args:
          dataset: the other one, of elements of the same structure.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          TypeError: for elements of other structures or dtypes.
        """
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
        return build(batching.batched(self, batch_size, drop_remainder, num_parallel_calls), self)

    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ):
        """Pad elements to a common shape, and stack them.

        Args:
          batch_size: how many elements a batch has.
          padded_shapes: the shape of an element, None or -1 for the largest size of the batch, in the structure of
            the elements; None for the largest sizes everywhere.
          padding_values: what is added, a scalar for each part; None for 0 and "".
          drop_remainder: whether a last batch that is smaller is left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.

        Raises:
          DataLossError: when it is reached, for an element larger than its shape.

        >>> dataset = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(3)
        >>> print(next(iter(dataset)).numpy())
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        made = batching.padded(self, batch_size, padded_shapes, padding_values, drop_remainder)
        return build(made, self)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
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
        return build(batching.ragged(self, batch_size, drop_remainder, row_splits_dtype), self)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Put elements into batches that are sparse tensors.

        Args:
          batch_size: how many elements a batch has.
          row_shape: the shape of a row of the batch, which elements may not exceed.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of sparse tensors `(batch, *row_shape)`.
        """
        return build(batching.sparse(self, batch_size, row_shape), self)

    def unbatch(self, name=None):
        """The slices of every element along its first axis."""
        return build(batching.unbatched(self), self)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Put the rows of batches into batches of another size.

        Args:
          batch_size: how many rows a batch has, or a list of sizes that are used in turn.
          drop_remainder: whether a last batch that is smaller is left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of batches.
        """
        return build(batching.rebatched(self, batch_size, drop_remainder), self)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Make datasets of elements that follow each other.

        Args:
          size: how many elements a window has.
          shift: how far the beginnings of windows are apart; None for `size`.
          stride: how far the elements of a window are apart.
          drop_remainder: whether last windows with fewer elements are left out.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of datasets; of an element of several parts, in its structure.

        >>> windows = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> print([[int(x) for x in window] for window in windows])
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        return build(windows.windows(self, size, shift, stride, drop_remainder), self)

    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
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
        """Leave out elements at random, so that classes are as frequent as wanted.

        Args:
          class_func: a function of an element that gives the number of its class.
          target_dist: the wanted part of each class, a vector.
          initial_dist: the part of each class in the dataset; None to estimate it.
          seed: an integer; None for other numbers each time.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of (class, element) pairs.
        """
        return resampling.resampled(self, class_func, target_dist, initial_dist, seed)

    # Files

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Keep the elements of the first whole pass in a directory, for this and later programs.

        Args:
          path: the directory.
          compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
          reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after
            another.
          shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.
        """
        return saving.snapshot(self, path, compression, reader_func, shard_func)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Write the elements to a directory, for `Dataset.load`.

        Args:
          path: the directory.
          compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
          shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.
          checkpoint_args: arguments of a `tf.train.CheckpointManager` that keeps how far it got: a dict; None for
            none.
        """
        saving.save(self, path, compression, shard_func, checkpoint_args)


boundaries(globals())
