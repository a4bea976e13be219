"""The weights of the classes of a batch, as its sample weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras import settings
from tapeflow.keras.engine.fitting.packing import unpack_x_y_sample_weight
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.rounding import round as rounded


class ClassWeights:
    """The batch with the weights of its classes as sample weights.

    In Keras 2 they are multiplied to sample weights that there are; Keras 3 refuses both. Classes that have no weight
    have 1 in Keras 3. Raises ValueError in Keras 2 for classes that are not 0, 1, 2, ...
    """

    def __init__(self, class_weight: Mapping[Any, Any]):
        self._given = class_weight
        self._weights: Any = _as_vector_of_keras_2(class_weight) if keras_2() else None

    def __call__(self, data):
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        several = isinstance(y, (list, tuple, dict)) and (len(y) > 1 or not keras_2())
        if several:
            raise ValueError("`class_weight` is only supported for Models with a single output.")
        target = nest.flatten(y)[0]
        rank = len(target.shape)
        if keras_2():
            if rank > 2:
                raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
        elif sample_weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        if self._weights is None:
            self._weights = _as_vector(self._given)
        one_hot = rank >= 2 and target.shape[-1] is not None and target.shape[-1] > 1
        values = self._of(target, rank, one_hot)
        if sample_weight is not None:
            given = nest.flatten(sample_weight)[0]
            values = (
                values.astype(given.dtype) if isinstance(values, np.ndarray)
                else cast(values, given.dtype)
            ) * given  # fmt: skip
        return x, y, values

    def _of(self, target, rank: int, one_hot: bool):
        """The weights of the classes of targets."""
        if isinstance(target, np.ndarray):
            if one_hot:
                classes = target.argmax(-1)
            else:
                flat = target.reshape(target.shape[: max(rank - 1, 1)])
                classes = (flat if keras_2() else np.round(flat)).astype(np.int64)
            return self._weights[classes if keras_2() else self._known(classes, np.where)]
        if one_hot:
            classes = argmax(target, axis=-1)
        elif keras_2():
            classes = reshape(cast(target, "int64"), [-1])
        else:
            classes = cast(rounded(target if rank < 2 else squeeze(target, -1)), "int64")
        return gather(convert_to_tensor(self._weights), classes if keras_2() else self._known(classes))

    def _known(self, classes, choose=where):
        """Numbers of classes; for those after the last that has a weight, the number after that."""
        last = np.int64(len(self._weights) - 1)
        return choose((classes >= 0) & (classes < last), classes, last)


def _as_vector_of_keras_2(class_weight):
    classes = set(class_weight)
    if classes != set(range(len(classes))):
        raise ValueError(
            "Expected `class_weight` to be a dict with keys from 0 to one less than the number of "
            f"classes, found {class_weight}"
        )
    return np.array([class_weight[i] for i in range(len(classes))], settings.floatx())


def _as_vector(class_weight):
    """The weights of classes by number, 1 for those that have none, then a 1 for all further ones."""
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "`class_weight` must be a dict-like mapping of class indices to weights. Received: "
            f"class_weight={class_weight} of type {type(class_weight)}."
        )
    whole = {}
    for key, value in class_weight.items():
        try:
            whole[int(key)] = value
        except (TypeError, ValueError):
            raise ValueError(
                "`class_weight` must be a dictionary with integer keys representing class indices. Received an "
                f"invalid key: {key!r} of type {type(key)}."
            ) from None
    return np.array([whole.get(i, 1.0) for i in range(max(whole, default=-1) + 1)] + [1.0], settings.floatx())
