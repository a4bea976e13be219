"""`tf.estimator.inputs`: functions that feed estimators from arrays and from pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.data import Dataset


def numpy_input_fn(
    x: dict[str, Any], y=None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool | None = None,
    queue_capacity: int = 1000, num_threads: int = 1,
):
    """A function that gives batches of `x`, an array or a dict of them, and of `y`, for all the epochs in a row.

    `shuffle` reorders within `queue_capacity` examples. Raises ValueError where it is not a bool, for empty `x`
    and for different numbers of examples.
    """
    if shuffle not in (True, False):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}"
        )
    features = {k: np.asarray(v) for k, v in x.items()} if isinstance(x, dict) else np.asarray(x)
    if isinstance(x, dict) and not x:
        raise ValueError("x cannot be an empty dict")
    target = {k: np.asarray(v) for k, v in y.items()} if isinstance(y, dict) else y
    if isinstance(y, dict) and not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    target = np.asarray(target) if target is not None and not isinstance(y, dict) else target
    arrays = [
        array
        for part in (features, target)
        if part is not None
        for array in (part.values() if isinstance(part, dict) else [part])
    ]
    if len({len(array) for array in arrays}) != 1:
        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the same length. "
            f"Lengths: {[len(array) for array in arrays]}"
        )

    def input_fn():
        """The next batch as tensors of the graph."""
        parts = features if target is None else (features, target)
        dataset = Dataset.from_tensor_slices(parts)
        if shuffle:
            dataset = dataset.shuffle(min(queue_capacity, len(arrays[0])))
        batches = dataset.repeat(num_epochs).batch(batch_size)
        return batches.make_one_shot_iterator().get_next()

    return input_fn


def pandas_input_fn(
    x, y=None, batch_size: int = 128, num_epochs: int = 1, shuffle: bool | None = None,
    queue_capacity: int = 1000, num_threads: int = 1, target_column: str = "target",
):  # fmt: skip
    """`numpy_input_fn` of the columns of a DataFrame; `y` is a Series, or a DataFrame for a dict of labels.

    Raises ValueError for indices that differ, and for a target that is a column of `x`.
    """
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that "
                "name"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError(
                "Index for x and y are mismatched.\n"
                f"Index for x: {x.index}\nIndex for y: {y.index}\n"
            )
    labels = None
    if y is not None:
        labels = {name: y[name].values for name in y} if hasattr(y, "columns") else y.values
    features = {name: x[name].values for name in x}
    return numpy_input_fn(
        features, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads
    )


boundaries(globals())
