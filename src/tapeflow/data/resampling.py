"""`Dataset.rejection_resample`: elements left out at random, so that classes come as often as is wanted."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import less, where
from tapeflow.ops.construction import one_hot
from tapeflow.ops.gather import gather
from tapeflow.ops.random import uniform
from tapeflow.ops.reduction import reduce_max, reduce_sum

_FIRST_COUNTS = 16  # elements that every class is taken to have had, in all, before any was counted


def resampled(dataset, class_func, target_dist, initial_dist, seed):
    """(class, element) pairs distributed over the classes as `target_dist` says.

    Without `initial_dist` the classes are counted as elements come.
    """
    target = convert_to_tensor(target_dist)
    if target.dtype not in (dtypes.float32, dtypes.float64):
        target = cast(target, dtypes.float32)

    def class_of(value):
        parts = value if type(dataset.element_spec) is tuple else (value,)
        return cast(class_func(*parts), dtypes.int32)

    def keep(number, chance, value):
        return less(uniform([], seed=seed, dtype=target.dtype), chance)

    if initial_dist is not None:
        chances = _chances(convert_to_tensor(initial_dist, target.dtype), target)

        def with_chance(*parts):
            number = class_of(parts if type(dataset.element_spec) is tuple else parts[0])
            value = parts if type(dataset.element_spec) is tuple else parts[0]
            return number, gather(chances, number), value

        chosen = dataset.map(with_chance).filter(keep)
    else:
        classes = int(target.shape[0])
        first = convert_to_tensor(np.full(classes, _FIRST_COUNTS // classes + 1, np.int64))

        def count(counts, value):
            number = class_of(value)
            counts = counts + one_hot(number, classes, dtype=dtypes.int64)
            shares = cast(counts, target.dtype)
            chances = _chances(shares / reduce_sum(shares), target)
            return counts, (number, gather(chances, number), value)

        chosen = dataset.scan(first, count).filter(keep)
    return chosen.map(lambda number, chance, value: (number, value))


def _chances(initial, target):
    """The chance of each class to be kept: the rarest, compared with what is wanted, always is."""
    tiny = np.finfo(target.dtype.as_numpy_dtype).tiny
    ratios = where(target > 0, target / (initial + tiny), target * 0)
    return ratios / reduce_max(ratios)
