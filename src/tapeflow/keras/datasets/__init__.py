"""Small data sets to learn and test with."""

from tapeflow.keras.datasets import mnist as mnist

__all__ = ["mnist"]
