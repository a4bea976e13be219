"""Batches of serialized `Example` messages, parsed."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.dataset import AUTOTUNE, Dataset
from tapeflow.data.sources.files import matching
from tapeflow.data.sources.records import TFRecordDataset
from tapeflow.ops.io.parsing import parse_example


def filenames_of(file_pattern: str):
    """The names of the files that match a pattern or a list of them. Raises ValueError where none does."""
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("Argument `file_pattern` cannot be empty.")
    texts = [os.fspath(p) for p in patterns]
    found = matching(texts)
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def shuffled_and_repeated(
    dataset: Dataset, num_epochs: int | None, shuffle: bool, buffer_size: int, seed: int | None
):
    """A dataset shuffled, if that is wanted, and repeated."""
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def parse_example_dataset(features: dict[str, Any], num_parallel_calls: int = 1, deterministic=None):
    """Make a transformation: batches of serialized `Example` messages to dicts of tensors; see `tf.io.parse_example`.

    Args:
      features: a dict of features by name.
      num_parallel_calls: how many batches are parsed at once.
      deterministic: whether batches come in the order of their inputs; None for the dataset's options.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: for no features.
      TypeError: for a dataset of anything but vectors of strings.
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset: Dataset):
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string:
            raise TypeError(
                "Input dataset should be a dataset of vectors of strings. Instead it is a dataset of "
                f"{spec}."
            )
        calls = None if num_parallel_calls == 1 else num_parallel_calls
        return dataset.map(
            lambda serialized: parse_example(serialized, features), calls, deterministic
        )

    return apply


def make_batched_features_dataset(
    file_pattern: str, batch_size: int, features: dict[str, Any], reader=None, label_key: str | None = None,
    reader_args=None, num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = 10000,
    shuffle_seed=None, prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
    sloppy_ordering: bool = False, drop_final_batch: bool = False,
):
    """Make batches of the parsed features of files of `Example` messages.

    Args:
      file_pattern: a glob pattern, or several.
      batch_size: how many examples a batch has.
      features: a dict of features by name, as `tf.io.parse_example` takes it.
      reader: a class of datasets of files; None for `TFRecordDataset`.
      label_key: the feature that is given apart from the others; None for none.
      reader_args: further arguments of the class, a list.
      num_epochs: the number of passes; None for without end.
      shuffle: whether examples are shuffled.
      shuffle_buffer_size: how many elements the buffer of the shuffle holds.
      shuffle_seed: an integer for the same order in every run; None for others.
      prefetch_buffer_size: how many batches are made ahead; None for as many as are useful.
      reader_num_threads: how many files are read at once; None for one.
      parser_num_threads: how many batches are parsed at once; None for two.
      sloppy_ordering: whether the order may depend on timing.
      drop_final_batch: whether a last batch that is smaller is left out.

    Returns:
      A dataset of dicts, or of (dict, label) pairs.

    Raises:
      TypeError: for a `reader` that is no dataset.
      ValueError: for a label that is no feature.
    """
    if reader is None:
        reader = TFRecordDataset
    threads = 1 if reader_num_threads is None else reader_num_threads
    workers = 2 if parser_num_threads is None else parser_num_threads
    arguments = list(reader_args or ())
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {list(features)}."
        )
    if not isinstance(reader, type) or not issubclass(reader, Dataset):
        raise TypeError(f"The `reader` argument must return a `Dataset` object. Got {reader}.")
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)

    def open_one(name: Tensor):
        return reader(name, *arguments)

    if threads == AUTOTUNE:
        dataset = files.interleave(open_one, num_parallel_calls=AUTOTUNE, deterministic=not sloppy_ordering)
    else:
        dataset = files.interleave(
            open_one, cycle_length=threads, num_parallel_calls=threads, deterministic=not sloppy_ordering
        )
    if isinstance(dataset.element_spec, tuple):  # (key, value) pairs of old readers
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, workers))
    if label_key is not None:
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


boundaries(globals())
