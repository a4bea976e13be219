"""Datasets of elements that are taken from several datasets, as a dataset of numbers or chance says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries, boundary
from tapeflow.data import element
from tapeflow.data.dataset_class import dataset_class
from tapeflow.data.iteration.passes import Pass, close_pass
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.combining import compatible
from tapeflow.data.transform.record import ELEMENTS, record
from tapeflow.data.transform.shuffling import PhiloxStream, SeedGenerator, graph_and_op_seed
from tapeflow.ops.random.stateless_choice import stateless_categorical
from tapeflow.ops.signature import integer

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_INFINITE = -1
_UNKNOWN = -2


class ChoosingMethods:
    """Static methods of Dataset."""

    @staticmethod
    @boundary
    def choose_from_datasets(datasets: Sequence[Any], choice_dataset: Dataset, stop_on_empty_dataset: bool = True):
        """Take the next element of datasets[i] for every int64 scalar i of a dataset.

        Args:
          datasets: a list of datasets of elements of one structure.
          choice_dataset: the dataset of numbers.
          stop_on_empty_dataset: whether to end when a chosen dataset has no more elements; if not, its choices are
            skipped.

        Returns:
          A dataset.

        Raises:
          ValueError: for no datasets.
          TypeError: for choices that are not int64 scalars.

        >>> datasets = [tf.data.Dataset.from_tensors(x).repeat() for x in (10, 20)]
        >>> choice = tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0], tf.int64))
        >>> print([int(x) for x in tf.data.Dataset.choose_from_datasets(datasets, choice)])
        [10, 20, 10]
        """
        return chosen(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    @boundary
    def sample_from_datasets(
        datasets: Sequence[Any], weights: Dataset | None = None, seed: int | None = None,
        stop_on_empty_dataset: bool = False, rerandomize_each_iteration=None,
    ):
        """Take elements from datasets that are chosen at random.

        Args:
          datasets: a list of datasets of elements of one structure.
          weights: the probability of each, a vector, or a dataset of such; None for equal ones.
          seed: an integer; None for other choices each time.
          stop_on_empty_dataset: whether to end when a chosen dataset has no more elements; if not, the others go on.
          rerandomize_each_iteration: whether every pass makes other choices.

        Returns:
          A dataset.

        Raises:
          ValueError: for another number of weights.
        """
        return sampled(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)


@record("choose_from_datasets", datasets=["datasets", "choice_dataset"])
def chosen(datasets: Sequence[Any], choice_dataset: Dataset, stop_on_empty_dataset: bool):
    """Dataset arguments for elements picked by a dataset of numbers."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    choice = choice_dataset.element_spec
    if choice.dtype.name != "int64" or not choice.shape.is_compatible_with([]):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
            f"{choice}."
        )

    def start():
        numbers = parts_of(choice_dataset).start()
        return _Interwoven(datasets, numbers, stop_on_empty_dataset)

    return "DirectedInterleave", start, _common_spec(datasets), _woven_size(datasets, stop_on_empty_dataset)


chosen.node(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N>=1*variant -> handle: variant",
    {**ELEMENTS, "N": integer, "stop_on_empty_dataset": False},
    reads=lambda attrs, given: {
        "datasets": list(given["data_input_datasets"]), "choice_dataset": given["selector_input_dataset"],
        "stop_on_empty_dataset": attrs.get("stop_on_empty_dataset", False),
    },
    written=False,
).also("ExperimentalDirectedInterleaveDataset", without=("stop_on_empty_dataset",))  # fmt: skip


def _woven_size(datasets: Sequence[Any], stop: bool):
    sizes = [parts_of(dataset).size for dataset in datasets]
    if stop or any(size == _UNKNOWN for size in sizes):
        return _INFINITE if all(size == _INFINITE for size in sizes) else _UNKNOWN
    return _INFINITE if _INFINITE in sizes else _UNKNOWN


class _Interwoven(Pass):
    """The next element of the dataset that each number of `numbers` names."""

    __slots__ = ("_gone", "_inputs", "_numbers", "_over", "_stop")

    def __init__(self, datasets: Sequence[Any], numbers, stop: bool):
        self._inputs = [parts_of(dataset).start() for dataset in datasets]
        self._numbers = numbers
        self._stop = stop
        self._gone = [False] * len(self._inputs)
        self._over = False

    def __next__(self):
        while not self._over:
            number = int(next(self._numbers))
            if not 0 <= number < len(self._inputs):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Selector index out of range: {number} >= {len(self._inputs)} [Op:IteratorGetNext]",
                )
            for value in self._inputs[number]:
                return value
            self._gone[number] = True
            self._over = self._stop or all(self._gone)
        raise StopIteration

    def save(self):
        inner = [source.save() for source in self._inputs]
        return [self._numbers.save(), self._over, self._gone, inner]

    def restore(self, state: Sequence[Any]):
        numbers, self._over, self._gone, inner = state
        self._numbers.restore(numbers)
        for source, saved in zip(self._inputs, inner, strict=True):
            source.restore(saved)

    def close(self):
        """Closes what it reads."""
        for source in self._inputs:
            close_pass(source)


@record("sample_from_datasets", datasets=["datasets", "weights"])
def sampled(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration):
    """Dataset arguments for elements of datasets picked at random."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    varied = isinstance(weights, dataset_class())
    given = None if weights is None or varied else _weights(weights, len(datasets))
    if given is not None:
        # Those that are never chosen would keep the others from ever ending.
        datasets = [dataset for dataset, weight in zip(datasets, given) if weight > 0]
        weights = given[given > 0]
    spec = _common_spec(datasets)
    if len(datasets) == 1 and not varied:
        return "DirectedInterleave", parts_of(datasets[0]).start, spec, parts_of(datasets[0]).size
    count = len(datasets)
    seeds = SeedGenerator(*graph_and_op_seed(seed), rerandomize_each_iteration is True)
    if varied:
        weights_spec = weights.element_spec
        if not weights_spec.shape.is_compatible_with([count]):
            raise ValueError(
                "Invalid `weights`. Elements of the dataset `weights` must be vectors of `len(datasets)`, got "
                f"{weights_spec}."
            )
        rows = weights
        fixed = None
    else:
        rows = None
        fixed = np.ones(count) if weights is None else np.log(weights)

    def start():
        stream = PhiloxStream(*seeds.next_seeds())
        numbers = _Choices(stream, seeds, fixed, None if rows is None else parts_of(rows).start())
        return _Interwoven(datasets, numbers, stop_on_empty_dataset)

    size = _woven_size(datasets, stop_on_empty_dataset)
    return "DirectedInterleave", start, spec, size


class _Choices(Pass):
    """Numbers of datasets drawn with given probabilities, as TensorFlow draws them."""

    __slots__ = ("_logits", "_rows", "_seeds", "_stream")

    def __init__(self, stream: PhiloxStream, seeds: SeedGenerator, logits: np.ndarray | None, rows: Any):
        self._stream = stream
        self._seeds = seeds
        self._logits = logits
        self._rows = rows

    def __next__(self):
        logits = self._logits
        if logits is None:
            with np.errstate(divide="ignore"):
                logits = np.log(np.asarray(next(self._rows).numpy(), np.float64))
        pair = np.array([next(self._stream), next(self._stream)], np.int64)
        return int(stateless_categorical(logits[None], 1, pair).numpy()[0, 0])

    def save(self):
        return [self._stream.save(), self._seeds.position, None if self._rows is None else self._rows.save()]

    def restore(self, state: Sequence[Any]):
        stream, drawn, rows = state
        self._stream = PhiloxStream.saved(stream)
        self._seeds.seek(drawn)
        if rows is not None:
            self._rows.restore(rows)


def _weights(weights, count: int):
    found = np.asarray(weights.numpy() if hasattr(weights, "numpy") else weights, np.float64)
    if found.shape != (count,):
        raise ValueError(
            "Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is "
            f"{list(found.shape)}."
        )
    if not (found >= 0).all() or found.sum() <= 0:
        raise ValueError(f"Invalid `weights`. They must not be negative, and not all zero: {found.tolist()}.")
    return found


def _common_spec(datasets: Sequence[Any]):
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        try:
            spec = element.map_leaves(compatible, spec, other.element_spec)
        except (TypeError, ValueError):
            raise TypeError(
                f"All datasets must have compatible element specs: {spec} and {other.element_spec} are not."
            ) from None
    return spec


boundaries(globals())
