"""`tf.contrib.learn.datasets`: the digits, Fisher's irises, and tables in files."""

from __future__ import annotations

from tapeflow.contrib.learn.datasets import base
from tapeflow.contrib.learn.datasets import mnist as mnist
from tapeflow.contrib.learn.datasets.base import load_boston, load_iris

__all__ = ["base", "load_boston", "load_dataset", "load_iris", "mnist"]


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False):
    """Return the data set of a name.

    Args:
      name: "mnist" or "iris".
      size, test_with_fake_data: accepted for compatibility.

    Raises:
      ValueError: for others.
    """
    if name == "iris":
        return load_iris()
    if name != "mnist":
        raise ValueError(f"Name of dataset is not found: {name}. There are 'mnist' and 'iris'.")
    return mnist.read_data_sets("MNIST-data")

