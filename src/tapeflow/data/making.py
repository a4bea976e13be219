"""The methods of Dataset that make datasets of something else."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.data import element
from tapeflow.data.building import build, in_graphs
from tapeflow.data.sources import files, saving
from tapeflow.data.sources import values as sources
from tapeflow.data.transform import combining


@in_graphs("load", "list_files")
class Making:
    """Static methods of Dataset."""

    @staticmethod
    def from_tensors(tensors, name=None):
        """Make a dataset of one element.

        Args:
          tensors: the element: a tensor, or a structure of tensors.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return build(sources.from_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
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
        return build(sources.from_tensor_slices(tensors))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """(indices, values, dense_shape) of each row of a sparse tensor (1.x)."""
        return build(sources.from_sparse_tensor_slices(sparse_tensor))

    @staticmethod
    def from_generator(
        generator,
        output_types=None,
        output_shapes=None,
        args=None,
        output_signature=None,
        name=None,
    ):
        """Give the elements of a Python generator, called anew for every pass.

        Args:
          generator: a function that gives an iterable.
          output_types: the dtypes of an element, where there is no signature.
          output_shapes: the shapes of an element; None for unknown ones.
          args: tensors that are passed to the function, as arrays.
          output_signature: `tf.TypeSpec`s of an element.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.

        Raises:
          InvalidArgumentError: when it is reached, for an element of another type or shape.

        >>> def count():
        ...     yield from (1, 2, 3)
        >>> dataset = tf.data.Dataset.from_generator(count, output_signature=tf.TensorSpec([], tf.int32))
        >>> print([int(x) for x in dataset])
        [1, 2, 3]
        """
        return build(
            sources.from_generator(generator, output_types, output_shapes, args, output_signature)
        )

    @staticmethod
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
        return build(sources.range_of(args, **kwargs))

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """Count without end: start, start + step, ...

        Args:
          start: the first number.
          step: the distance of the numbers.
          dtype: their dtype.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return build(sources.counter(start, step, dtype))

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Draw int64 scalars of 32 bits at random, without end.

        Args:
          seed: an integer for the same numbers in every run; None for others.
          rerandomize_each_iteration: whether every pass draws other numbers.
          name: the name of the dataset in a graph.

        Returns:
          A dataset.
        """
        return build(sources.random_numbers(seed, rerandomize_each_iteration))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Give elements of several datasets side by side, until the shortest ends.

        Args:
          *args: the datasets, or structures of datasets.
          datasets: a structure of datasets, instead of `args`.
          name: the name of the dataset in a graph.

        Returns:
          A dataset of elements in that structure.

        Raises:
          TypeError: for what is not a dataset, and for both or none.

        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9))
        >>> print([(int(a), int(b)) for a, b in pairs])
        [(0, 5), (1, 6)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        made = combining.zipped(datasets)
        return build(made, *element.flatten(datasets))

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Take the next element of datasets[i] for every int64 scalar i of a dataset.

        Args:
          datasets: a list of datasets of elements of one structure.
          choice_dataset: the dataset of numbers.
          stop_on_empty_dataset: whether to end when a chosen dataset has no more elements; if not, its choices are
            skipped.

        Returns:
          A dataset.

        Raises:
          ValueError: for no datasets.
          TypeError: for choices that are not int64 scalars.

        >>> datasets = [tf.data.Dataset.from_tensors(x).repeat() for x in (10, 20)]
        >>> choice = tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0], tf.int64))
        >>> print([int(x) for x in tf.data.Dataset.choose_from_datasets(datasets, choice)])
        [10, 20, 10]
        """
        made = combining.chosen(datasets, choice_dataset, stop_on_empty_dataset)
        return build(made, *datasets, choice_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets,
        weights=None,
        seed=None,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=None,
    ):
        """Take elements from datasets that are chosen at random.

        Args:
          datasets: a list of datasets of elements of one structure.
          weights: the probability of each, a vector, or a dataset of such; None for equal ones.
          seed: an integer; None for other choices each time.
          stop_on_empty_dataset: whether to end when a chosen dataset has no more elements; if not, the others go on.
          rerandomize_each_iteration: whether every pass makes other choices.

        Returns:
          A dataset.

        Raises:
          ValueError: for another number of weights.
        """
        made = combining.sampled(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )
        return build(made, *datasets)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """List the names of the files that match patterns.

        Args:
          file_pattern: a glob pattern, or several.
          shuffle: whether names are shuffled anew for each pass; None for True.
          seed: an integer for the shuffling; None for other orders each time.
          name: the name of the dataset in a graph.

        Returns:
          A dataset of strings.

        Raises:
          InvalidArgumentError: where no file matches.
        """
        return files.list_files(file_pattern, shuffle, seed)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """Read the dataset that `save` wrote.

        Args:
          path: the directory.
          element_spec: the structure of an element; None for what was saved with it.
          compression: that of `save`.
          reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after
            another.
          wait: whether to wait for a dataset that is still being written.

        Returns:
          A dataset.

        Raises:
          NotFoundError: where there is none.
          DataLossError: with its elements, for damaged files.
        """
        return saving.load(path, element_spec, compression, reader_func, wait)
