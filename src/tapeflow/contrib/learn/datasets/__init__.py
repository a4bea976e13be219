"""`tf.contrib.learn.datasets`: the digits, and tables in files; other data sets do not come with the package."""

from __future__ import annotations

from tapeflow.contrib.learn.datasets import base
from tapeflow.contrib.learn.datasets import mnist as mnist

__all__ = ["base", "load_dataset", "mnist"]


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False):
    """The data set of a name: "mnist". Raises ValueError for others."""
    if name != "mnist":
        raise ValueError(f"Name of dataset is not found: {name}. What comes with the package is 'mnist'.")
    return mnist.read_data_sets("MNIST-data")
