"""`tf.contrib.learn.datasets.base`: tables in CSV files."""

from __future__ import annotations

import collections
import csv
import os
import urllib.request
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.files import file_system

__all__ = [
    "Dataset", "Datasets", "load_boston", "load_csv_with_header", "load_csv_without_header", "load_iris",
    "maybe_download",
]  # fmt: skip

Dataset = collections.namedtuple("Dataset", "data target")
Datasets = collections.namedtuple("Datasets", "train validation test")


def _split(rows: Sequence[Any], target_dtype: type, features_dtype: type, column: int):
    targets = [row.pop(column) for row in rows]
    return Dataset(np.array(rows, features_dtype), np.array(targets, target_dtype))


def _rows(filename):
    with file_system.GFile(filename) as file:
        return [row for row in csv.reader(file.read().splitlines()) if row]


def load_csv_with_header(filename: str, target_dtype: type, features_dtype: type, target_column: int = -1):
    """The Dataset of a file whose first row tells the numbers of examples and of features."""
    first, *rows = _rows(filename)
    rows = rows[: int(first[0])]
    found = _split(rows, target_dtype, features_dtype, target_column)
    if found.data.shape != (int(first[0]), int(first[1])):
        raise ValueError(f"{filename} has data of shape {found.data.shape}; its header says {first[:2]}.")
    return found


def load_csv_without_header(filename: str, target_dtype: type, features_dtype: type, target_column: int = -1):
    """The Dataset of a file of examples."""
    return _split(_rows(filename), target_dtype, features_dtype, target_column)


def maybe_download(filename: str, work_directory: str, source_url: str):
    """The path of a file in a folder, loaded from `source_url` unless it is there."""
    os.makedirs(work_directory, exist_ok=True)
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        urllib.request.urlretrieve(source_url, path)
    return path


def load_iris(data_path: str | None = None) -> Dataset:
    """Return Fisher's irises: four lengths of 150 flowers, and their species.

    Args:
      data_path: a file as `load_csv_with_header` reads it; None: those of scikit-learn.

    Raises:
      ImportError: without a file where scikit-learn is not installed.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, int, float)
    try:
        from sklearn import datasets  # an optional dependency
    except ImportError as error:
        raise ImportError("The irises come with scikit-learn: install it, or give the path of a file.") from error
    return Dataset(*datasets.load_iris(return_X_y=True))


def load_boston(data_path: str | None = None) -> Dataset:
    """Return the prices of houses in Boston.

    Args:
      data_path: a file as `load_csv_with_header` reads it.

    Raises:
      ValueError: without a file: the data do not come with the package.
    """
    if data_path is None:
        raise ValueError("The prices of houses do not come with the package: give the path of a file.")
    return load_csv_with_header(data_path, float, float)
