"""Iterators over batches of images in memory."""

from __future__ import annotations

import os
import threading

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.keras import settings
from tapeflow.keras.preprocessing.image.arrays import array_to_img
from tapeflow.keras.utils.sequence import Sequence

WHITE_LIST = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")


class Iterator(Sequence):
    """Batches of `n` things by number, without end when iterated over.

    Args:
      n: how many things there are.
      batch_size: the number in a batch.
      shuffle: whether the order is random.
      seed: an integer for the shuffling; None for a random one.
      **kwargs: arguments of `keras.utils.Sequence`.
    """

    white_list_formats = WHITE_LIST

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None, **kwargs):
        super().__init__(**kwargs)
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None
        self.index_generator = self._flow_index()

    def _set_index_array(self):
        self.index_array = np.arange(self.n)
        if self.shuffle:
            self.index_array = np.random.permutation(self.n)

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        rows = self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        return self._get_batches_of_transformed_samples(rows)

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        """Draws a new order."""
        self._set_index_array()

    def reset(self):
        """Begins again with the first batch."""
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            if self.seed is not None:
                np.random.seed(self.seed + self.total_batches_seen)
            if self.batch_index == 0:
                self._set_index_array()
            start = (self.batch_index * self.batch_size) % self.n if self.n else 0
            if self.n > start + self.batch_size:
                self.batch_index += 1
            else:
                self.batch_index = 0
            self.total_batches_seen += 1
            yield self.index_array[start : start + self.batch_size]

    def __iter__(self):
        return self

    def __next__(self):
        """The next batch."""
        with self.lock:
            rows = next(self.index_generator)
        return self._get_batches_of_transformed_samples(rows)

    next = __next__

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError(f"{type(self).__name__} must say what the things of a batch are.")

    def _save(self, batch, index_array):
        """Writes the images of a batch to `save_to_dir`."""
        for i, row in enumerate(index_array):
            img = array_to_img(batch[i], self.data_format, scale=True)
            name = f"{self.save_prefix}_{row}_{np.random.randint(10**7)}.{self.save_format}"
            img.save(os.path.join(self.save_to_dir, name))


class NumpyArrayIterator(Iterator):
    """Batches of an array of images, changed by an ImageDataGenerator.

    Args:
      x: the images, an array of 4 axes, or a pair of it and further arrays that go along.
      y: the labels, or None.
      image_data_generator: the `ImageDataGenerator` that says how images are changed.
      batch_size: the number of images in a batch.
      shuffle: whether the order is random.
      sample_weight: the weights of the images, or None.
      seed: an integer for shuffling and changes; None for a random one.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      save_to_dir: a folder that changed images are written to, to look at them; None for none.
      save_prefix: how their names begin.
      save_format: their format, "png" or "jpeg".
      subset: "training" or "validation", the part that `validation_split` says; None for all.
      ignore_class_split: whether both parts of a split may have different classes.
      dtype: the dtype of the batches; None for `keras.config.floatx()`.
    """

    def __init__(
        self,
        x,
        y,
        image_data_generator,
        batch_size=32,
        shuffle=False,
        sample_weight=None,
        seed=None,
        data_format=None,
        save_to_dir=None,
        save_prefix="",
        save_format="png",
        subset=None,
        ignore_class_split=False,
        dtype=None,
    ):
        self.data_format = data_format or settings.image_data_format()
        self.dtype = dtype or settings.floatx()
        more = []
        if isinstance(x, (tuple, list)) and not isinstance(x, np.ndarray):
            more = (
                [np.asarray(each) for each in x[1]]
                if isinstance(x[1], list)
                else [np.asarray(x[1])]
            )
            x = x[0]
        for other, what in (
            (y, "labels"),
            (sample_weight, "sample weights"),
            *((m, "x") for m in more),
        ):
            if other is not None and len(other) != len(x):
                raise ValueError(
                    f"`x` (images tensor) and {what} should have the same length. Found: "
                    f"{np.shape(x)} and {np.shape(other)}"
                )
        if subset is not None:
            if subset not in ("training", "validation"):
                raise ValueError(
                    f'Invalid subset name: {subset}; expected "training" or "validation".'
                )
            at = int(len(x) * image_data_generator._validation_split)
            if y is not None and not ignore_class_split and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
                raise ValueError(
                    "Training and validation subsets have different number of classes after the split. If your numpy "
                    "arrays are sorted by the label, you might want to shuffle them."
                )
            part = slice(None, at) if subset == "validation" else slice(at, None)
            x, more = x[part], [m[part] for m in more]
            y = None if y is None else y[part]
            sample_weight = None if sample_weight is None else sample_weight[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = more
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array):
        change = self.image_data_generator
        images = []
        for row in index_array:
            params = change.get_random_transform(self.x.shape[1:])
            x = change.apply_transform(self.x[row].astype(self.dtype), params)
            images.append(change.standardize(x))
        batch = np.stack(images).astype(self.dtype) if images else self.x[:0]
        if self.save_to_dir:
            self._save(batch, index_array)
        inputs = batch if not self.x_misc else [batch, *(m[index_array] for m in self.x_misc)]
        output = (inputs,)
        if self.y is None:
            return output[0]
        output += (self.y[index_array],)
        if self.sample_weight is not None:
            output += (self.sample_weight[index_array],)
        return output


boundaries(globals())
