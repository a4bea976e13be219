"""`tf.keras.utils.experimental.DatasetCreator`: data that each worker makes for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.data.dataset import Dataset
from tapeflow.distribute.inputs import InputOptions


class DatasetCreator:
    """Data for `fit`: a function that makes a dataset; see `ParameterServerStrategy`.

    Args:
      dataset_fn: a function of a `tf.distribute.InputContext` that gives a dataset.
      input_options: a `tf.distribute.InputOptions`, or None.

    Raises:
      TypeError: for arguments of other types.
    """

    def __init__(self, dataset_fn: Callable[..., Any], input_options: InputOptions | None = None):
        if not callable(dataset_fn):
            raise TypeError(
                f"`dataset_fn` for `DatasetCreator` must be a `callable`. Received: {dataset_fn}"
            )
        if input_options and not isinstance(input_options, InputOptions):
            raise TypeError(
                "`input_options` for `DatasetCreator` must be a `tf.distribute.InputOptions`. Received: "
                f"{input_options}"
            )
        self.dataset_fn, self.input_options = dataset_fn, input_options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The dataset. Raises TypeError where the function gives something else."""
        dataset = self.dataset_fn(*args, **kwargs)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f'The `callable` provided to `DatasetCreator` must return a Dataset. It returns "{dataset}"'
            )
        return dataset


boundaries(globals())
