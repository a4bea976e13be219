"""Transformations of several datasets into one."""

from __future__ import annotations

import itertools

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.data import element
from tapeflow.data.selecting import graph_and_op_seed
from tapeflow.data.shuffling import PhiloxStream

_INFINITE = -1
_UNKNOWN = -2


def zipped(datasets):
    """Dataset arguments for datasets side by side."""
    if isinstance(datasets, list):
        raise TypeError(
            "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
            "`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` "
            "instead."
        )
    leaves = []
    element.map_leaves(leaves.append, datasets)
    if not leaves:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for leaf in leaves:
        if not hasattr(leaf, "_start"):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
            )
    flat = type(datasets) is tuple and len(leaves) == len(datasets)

    def elements():
        passes = [leaf._start() for leaf in leaves]
        if flat:
            return zip(*passes)
        return map(nested, zip(*passes))

    def nested(values):
        values = iter(values)
        return element.map_leaves(lambda _: next(values), datasets)

    def spec():
        return element.map_leaves(lambda dataset: dataset.element_spec, datasets)

    sizes = [leaf._size for leaf in leaves]
    finite = [size for size in sizes if size != _INFINITE]
    size = _INFINITE if not finite else _UNKNOWN if _UNKNOWN in finite else min(finite)
    return "Zip", elements, spec, size


def concatenated(first, second):
    """Dataset arguments for one dataset after another."""

    def spec():
        one, two = first.element_spec, second.element_spec
        try:
            return element.map_leaves(_compatible, one, two)
        except (TypeError, ValueError):
            raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {two}") from None

    if not hasattr(second, "_start"):
        raise TypeError(f"Dataset.concatenate expects a dataset, got {type(second)}.")
    if not callable(first._spec) and not callable(second._spec):
        spec()  # both are known at no cost: report at once
    sizes = (first._size, second._size)
    size = _INFINITE if _INFINITE in sizes else _UNKNOWN if _UNKNOWN in sizes else sum(sizes)
    elements = lambda: itertools.chain(first._start(), lazily(second._start))  # noqa: E731
    return "Concatenate", elements, spec, size


def lazily(start):
    """A pass that starts when its first element is asked for."""
    yield from start()


def _compatible(one, two):
    merged = element.merge_specs(one, two)
    if merged is None and one is not None:
        raise TypeError(f"{one} and {two} are not compatible")
    return merged


def chosen(datasets, choice_dataset, stop_on_empty_dataset):
    """Dataset arguments for elements picked by a dataset of numbers."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")

    def elements():
        passes = [dataset._start() for dataset in datasets]
        for choice in choice_dataset._start():
            number = int(choice)
            if not 0 <= number < len(passes):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Selector index out of range: {number} >= {len(passes)} [Op:IteratorGetNext]",
                )
            for value in passes[number]:
                yield value
                break
            else:
                if stop_on_empty_dataset:
                    return

    return "DirectedInterleave", elements, lambda: _common_spec(datasets)


def sampled(datasets, weights, seed, stop_on_empty_dataset):
    """Dataset arguments for elements of datasets picked at random."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    weights = np.ones(len(datasets)) if weights is None else np.asarray(weights, np.float64)
    if weights.shape != (len(datasets),) or not (weights >= 0).all() or weights.sum() <= 0:
        raise ValueError(
            "Invalid `weights`. The shape of `weights` should be compatible with "
            f"`[len(datasets)]` and its values not negative, but got {weights.tolist()}."
        )

    def elements():
        stream = PhiloxStream(*graph_and_op_seed(seed))
        passes = [dataset._start() for dataset in datasets]
        left = weights.copy()
        while left.sum() > 0:
            edges = np.cumsum(left) / left.sum()
            number = int(np.searchsorted(edges, next(stream) / 2**32, side="right"))
            for value in passes[number]:
                yield value
                break
            else:
                if stop_on_empty_dataset:
                    return
                left[number] = 0

    return "DirectedInterleave", elements, lambda: _common_spec(datasets)


def _common_spec(datasets):
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        spec = element.map_leaves(_compatible, spec, other.element_spec)
    return spec
