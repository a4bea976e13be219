"""The methods of Dataset that make datasets of something else."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.data import combining, element, files, sources
from tapeflow.data.building import build, in_graphs


@in_graphs("load", "list_files")
class Making:
    """Static methods of Dataset."""

    @staticmethod
    def from_tensors(tensors, name=None):
        """A dataset of one element, `tensors`."""
        return build(sources.from_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The slices of `tensors` along their first axis, whose sizes must agree (ValueError)."""
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
        """The elements of `generator(*args)`, called anew for every pass.

        Raises InvalidArgumentError, when it is reached, for an element of another type or shape.
        """
        return build(
            sources.from_generator(generator, output_types, output_shapes, args, output_signature)
        )

    @staticmethod
    def range(*args, **kwargs):
        """int64 (or `output_type`) scalars: range(stop), range(start, stop[, step])."""
        return build(sources.range_of(args, **kwargs))

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """start, start + step, ... without end."""
        return build(sources.counter(start, step, dtype))

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random int64 scalars of 32 bits, without end."""
        return build(sources.random_numbers(seed, rerandomize_each_iteration))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, until the shortest ends."""
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
        """The next element of datasets[i] for every int64 scalar i of `choice_dataset`."""
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
        """Elements of datasets chosen at random, with the probabilities `weights`."""
        made = combining.sampled(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )
        return build(made, *datasets)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that match glob patterns, shuffled anew for each pass unless `shuffle` is False.

        Raises InvalidArgumentError where no file matches.
        """
        return files.list_files(file_pattern, shuffle, seed)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The dataset that `save` wrote to the directory `path`.

        Raises NotFoundError where there is none, and with its elements DataLossError for damaged files.
        """
        from tapeflow.data import saving

        return saving.load(path, element_spec, compression, reader_func, wait)
