"""`Dataset.rejection_resample`: elements left out at random, so that classes come as often as is wanted.

Elements come from two datasets, chosen at random: the given one, as often as the wanted distribution contains the
initial one, and one that rejects elements, for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.data.dataset_class import dataset_class
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.printing import Print
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import less
from tapeflow.ops.math.reductions import reduce_max, reduce_min, reduce_sum
from tapeflow.ops.random.functions import uniform
from tapeflow.ops.static import static_value

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_COUNTED_TOGETHER = 32  # elements, after which the initial distribution is estimated anew
_FIRST_COUNT = 10  # elements that every class is taken to have had before any was counted


class ResamplingMethods:
    """Methods of Dataset."""

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: Sequence[float],
        initial_dist: Sequence[float] | None = None, seed: int | None = None, name: str | None = None,
    ):
        """Leave out elements at random, so that classes are as frequent as wanted.

        Args:
          class_func: a function of an element that gives the number of its class.
          target_dist: the wanted part of each class, a vector.
          initial_dist: the part of each class in the dataset; None to estimate it.
          seed: an integer; None for other numbers each time.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of (class, element) pairs.
        """
        return resampled(self, class_func, target_dist, initial_dist, seed)


def resampled(
    dataset, class_func: Callable[..., Any], target_dist: Sequence[float], initial_dist: Sequence[float] | None,
    seed: int | None,
):
    """(class, element) pairs distributed over the classes as `target_dist` says.

    Without `initial_dist` the classes are counted as elements come.
    """
    target = convert_to_tensor(target_dist)
    if initial_dist is None:
        initials = _estimated(dataset.map(class_func), int(target.shape[0]))
        share = None
    else:
        initial = convert_to_tensor(initial_dist)
        initials = dataset_class().from_tensors(initial).repeat()
        share = _static_share(static_value(initial), static_value(target))
    classified = dataset.map(lambda *parts: (class_func(*parts), parts if len(parts) > 1 else parts[0]))
    if share == 1:
        return classified
    kept = _kept(dataset, class_func, initials.map(lambda initial: _chances(initial, target)), seed)
    if share == 0:
        return kept

    def weights(initial: Tensor):
        share = reduce_min(_ratios(initial, target))
        return stack([share, 1 - share])

    known, drawn = initials.map(weights), [classified, kept]
    return dataset_class().sample_from_datasets(drawn, known, seed, stop_on_empty_dataset=True)


def _kept(dataset: Dataset, class_func: Callable[..., Any], chances: Dataset, seed: int | None):
    """The (class, element) pairs that are not rejected."""

    def with_chance(chances: Tensor, value: Tensor):
        number = class_func(*value) if isinstance(value, tuple) else class_func(value)
        return number, gather(chances, number), value

    def keep(number: Tensor, chance: Tensor, value: Tensor):
        return less(uniform([], seed=seed, dtype=chance.dtype), chance)

    found = dataset_class().zip((chances, dataset)).map(with_chance).filter(keep)
    return found.map(lambda number, chance, value: (number, value))


def _estimated(classes: Dataset, count: int):
    """A distribution for each element: that of the classes in its group and in those before it."""

    def counted(counts: Tensor, numbers: Tensor):
        counts = counts + reduce_sum(one_hot(numbers, count, dtype=dtypes.int64), 0)
        shares = cast(counts / reduce_sum(counts), dtypes.float32)
        return counts, tile(expand_dims(shares, 0), [_COUNTED_TOGETHER, 1])

    first = np.full(count, _FIRST_COUNT, np.int64)
    return classes.batch(_COUNTED_TOGETHER).scan(first, counted).unbatch()


def _ratios(initial: Tensor, target: Tensor):
    return target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)


def _chances(initial: Tensor, target: Tensor):
    """The chance of each class to be kept, as elements of the given dataset come, too."""
    ratios = _ratios(initial, target)
    least = reduce_min(ratios)
    chances = (ratios - least) / (reduce_max(ratios) - least)
    rejected = reduce_sum((1 - chances) * initial)
    return cond(rejected < 0.5, lambda: chances, lambda: _with_warning(chances, rejected, initial))


def _with_warning(chances: Tensor, rejected: Tensor, initial: Tensor):
    return Print(
        chances, [rejected, initial, chances],
        message="Proportion of examples rejected by sampler is high: ", summarize=100, first_n=10,
    )  # fmt: skip


def _static_share(initial: np.ndarray | None, target: np.ndarray | None):
    """How many elements come from the given dataset, where that is known."""
    if initial is None or target is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.min(target / initial)


boundaries(globals())
