"""`tensorflow.examples.tutorials.mnist.input_data`: the MNIST digits in batches, as programs of 1.x read them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from tapeflow.core import dtypes

__all__ = ["DataSet", "Datasets", "dense_to_one_hot", "read_data_sets"]

Datasets = namedtuple("Datasets", ["train", "validation", "test"])


def dense_to_one_hot(labels_dense, num_classes):
    """Labels as rows of zeros with a one."""
    return np.eye(num_classes)[np.asarray(labels_dense).ravel()]


class DataSet:
    """Images and labels, given out in batches."""

    def __init__(
        self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None
    ):  # fmt: skip
        self._rng = np.random.RandomState(seed)
        if fake_data:
            images = np.zeros((10000, 28, 28, 1), np.uint8)
            labels = np.zeros(10000, np.uint8)
            labels = dense_to_one_hot(labels, 10) if one_hot else labels
        if reshape:
            images = images.reshape(images.shape[0], -1)
        if dtypes.as_dtype(dtype).base_dtype == dtypes.float32:
            images = images.astype(np.float32) / 255.0
        self._images, self._labels = images, labels
        self._at = 0
        self._epochs = 0

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return len(self._images)

    @property
    def epochs_completed(self):
        return self._epochs

    def _shuffle(self):
        order = self._rng.permutation(self.num_examples)
        self._images, self._labels = self._images[order], self._labels[order]

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next images and labels; after the last the first follow, in another order.

        With `fake_data` all are white, of the digit 0: two lists.
        """
        if fake_data:
            label = [1] + [0] * 9 if self._labels.ndim == 2 else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._at
        if self._epochs == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self.num_examples:
            self._at += batch_size
            return self._images[start : self._at], self._labels[start : self._at]
        self._epochs += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._at = batch_size - len(images)
        return (
            np.concatenate([images, self._images[: self._at]]),
            np.concatenate([labels, self._labels[: self._at]]),
        )


def read_data_sets(
    train_dir=None, fake_data: bool = False, one_hot: bool = False, dtype=dtypes.float32, reshape: bool = True,
    validation_size=5000, seed: int | None = None, source_url=None,
) -> Any:  # fmt: skip
    """The digits that `keras.datasets.mnist` has, to train, to validate and to test with.

    Where there are fewer than 60,000 digits to train with, a twelfth of them validates.
    Raises ValueError for a validation set larger than that.
    """
    from tapeflow.keras.datasets import mnist

    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, **options) for _ in range(3)))
    (train_images, train_labels), (test_images, test_labels) = mnist.load_data()
    if len(train_images) < 60000 and validation_size == 5000:
        validation_size = len(train_images) // 12
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}."
        )
    if one_hot:
        train_labels, test_labels = dense_to_one_hot(train_labels, 10), dense_to_one_hot(test_labels, 10)
    train_images, test_images = train_images[..., None], test_images[..., None]
    n = validation_size
    return Datasets(
        DataSet(train_images[n:], train_labels[n:], **options),
        DataSet(train_images[:n], train_labels[:n], **options),
        DataSet(test_images, test_labels, **options),
    )
