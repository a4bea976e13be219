"""`Dataset.rejection_resample`: elements left out at random, so that classes come as often as is wanted."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data import element
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import less
from tapeflow.ops.gather import gather
from tapeflow.ops.construction import one_hot
from tapeflow.ops.random import uniform
from tapeflow.ops.reduction import reduce_max, reduce_min, reduce_sum
from tapeflow.ops.comparison import where


def resampled(dataset, class_func, target_dist, initial_dist, seed):
    """(class, element) pairs distributed over the classes as `target_dist` says."""
    target = convert_to_tensor(target_dist)
    if target.dtype not in (dtypes.float32, dtypes.float64):
        target = cast(target, dtypes.float32)
    if initial_dist is not None:
        initial = convert_to_tensor(initial_dist, target.dtype)
        chances, shares = _acceptance(initial, target)
        return _kept(dataset, class_func, seed, lambda number: (gather(chances, number), gather(shares, number)),
                     initial, target)  # fmt: skip
    return _estimated(dataset, class_func, target, seed)


def _acceptance(initial, target):
    """The chance of each class to be kept, and how large a share of its elements may come twice (none)."""
    tiny = np.finfo(target.dtype.as_numpy_dtype).tiny
    ratios = where(target > 0, target / (initial + tiny), target * 0)
    largest = reduce_max(ratios)
    return ratios / largest, ratios


def _kept(dataset, class_func, seed, chance, initial, target):
    """The pairs of elements kept with the chance of their class."""

    def with_class(*value):
        found = cast(class_func(*value), dtypes.int32)
        return found, (value if len(value) > 1 else value[0])

    def keep(number, _):
        return less(uniform([], seed=seed, dtype=target.dtype), chance(number)[0])

    return dataset.map(with_class).filter(keep)


def _estimated(dataset, class_func, target, seed):
    """As `_kept`, with the distribution of the classes counted as elements come."""
    size = int(target.shape[0])
    start = convert_to_tensor(np.full(size, 16 // size + 1, np.int64))

    def count(counts, value):
        parts = value if type(dataset.element_spec) is tuple else (value,)
        number = cast(class_func(*parts), dtypes.int32)
        counts = counts + one_hot(number, size, dtype=dtypes.int64)
        shares = cast(counts, target.dtype)
        shares = shares / reduce_sum(shares)
        chances, _ = _acceptance(shares, target)
        return counts, (number, gather(chances, number), value)

    def keep(number, chance, value):
        return less(uniform([], seed=seed, dtype=target.dtype), chance)

    pairs = dataset.scan(start, count).filter(keep)
    return pairs.map(lambda number, chance, value: (number, value))


__all__ = ["element", "reduce_min", "resampled"]
