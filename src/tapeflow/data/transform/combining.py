"""Transformations of several datasets into one."""

from __future__ import annotations

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.data import element
from tapeflow.data.iteration.passes import Pass, close_pass, later
from tapeflow.data.parts import size_of, start_of
from tapeflow.data.transform.selecting import graph_and_op_seed
from tapeflow.data.transform.shuffling import PhiloxStream, SeedGenerator
from tapeflow.ops.random.stateless_choice import stateless_categorical

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
    leaves = element.flatten(datasets)
    if not leaves:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for leaf in leaves:
        if not hasattr(leaf, "_start"):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
            )
    flat = type(datasets) is tuple and all(hasattr(each, "_start") for each in datasets)

    def spec():
        return element.map_leaves(lambda dataset: dataset.element_spec, datasets)

    sizes = [leaf._size for leaf in leaves]
    finite = [size for size in sizes if size != _INFINITE]
    size = _INFINITE if not finite else _UNKNOWN if _UNKNOWN in finite else min(finite)
    like = None if flat else datasets
    return "Zip", lambda: _Zipped([leaf._start() for leaf in leaves], like), spec, size


class _Zipped(Pass):
    __slots__ = ("_inputs", "_like", "_over")

    def __init__(self, inputs, like):
        self._inputs = inputs
        self._like = like
        self._over = False

    def __next__(self):
        if self._over:
            raise StopIteration
        values = []
        failed = None
        for source in self._inputs:
            try:
                values.append(next(source))
            except StopIteration:
                self._over = True
                self.close()
                raise
            except Exception as error:  # the others move on too, so that pairs stay pairs
                failed = failed or error
        if failed is not None:
            raise failed
        return tuple(values) if self._like is None else element.unflatten(self._like, iter(values))

    def save(self):
        return [self._over, [source.save() for source in self._inputs]]

    def restore(self, state):
        self._over, inner = state
        for source, saved in zip(self._inputs, inner, strict=True):
            source.restore(saved)

    def close(self):
        """Closes what it reads."""
        for source in self._inputs:
            close_pass(source)


def concatenated(first, second):
    """Dataset arguments for one dataset after another."""
    if not hasattr(second, "_start"):
        raise TypeError(f"Dataset.concatenate expects a dataset, got {type(second)}.")
    one, two = first.element_spec, second.element_spec
    try:
        spec = element.map_leaves(_compatible, one, two)
    except (TypeError, ValueError):
        raise TypeError(
            f"Incompatible dataset elements:\n  {one} vs.   {two}"
        ) from None
    sizes = (first._size, second._size)
    size = _INFINITE if _INFINITE in sizes else _UNKNOWN if _UNKNOWN in sizes else sum(sizes)
    return "Concatenate", lambda: _Concatenated([first._start, second._start]), spec, size


class _Concatenated(Pass):
    __slots__ = ("_input", "_number", "_starts")

    def __init__(self, starts):
        self._starts = [later(start) for start in starts]
        self._number = 0
        self._input = starts[0]()

    def __next__(self):
        while self._input is not None:
            for value in self._input:
                return value
            self._number += 1
            self._input = self._starts[self._number]() if self._number < len(self._starts) else None
        raise StopIteration

    def save(self):
        return [self._number, None if self._input is None else self._input.save()]

    def restore(self, state):
        self._number, inner = state
        self._input = None
        if inner is not None:
            self._input = self._starts[self._number]()
            self._input.restore(inner)

    def close(self):
        """Closes what it reads."""
        close_pass(self._input)


def _compatible(one, two):
    merged = element.merge_specs(one, two)
    if merged is None and one is not None:
        raise TypeError(f"{one} and {two} are not compatible")
    return merged


def chosen(datasets, choice_dataset, stop_on_empty_dataset):
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
        numbers = choice_dataset._start()
        return _Interwoven(datasets, numbers, stop_on_empty_dataset)

    return "DirectedInterleave", start, _common_spec(datasets), _woven_size(datasets, stop_on_empty_dataset)


def _woven_size(datasets, stop):
    sizes = [size_of(dataset) for dataset in datasets]
    if stop or any(size == _UNKNOWN for size in sizes):
        return _INFINITE if all(size == _INFINITE for size in sizes) else _UNKNOWN
    return _INFINITE if _INFINITE in sizes else _UNKNOWN


class _Interwoven(Pass):
    """The next element of the dataset that each number of `numbers` names."""

    __slots__ = ("_gone", "_inputs", "_numbers", "_over", "_stop")

    def __init__(self, datasets, numbers, stop):
        self._inputs = [start_of(dataset)() for dataset in datasets]
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

    def restore(self, state):
        numbers, self._over, self._gone, inner = state
        self._numbers.restore(numbers)
        for source, saved in zip(self._inputs, inner, strict=True):
            source.restore(saved)

    def close(self):
        """Closes what it reads."""
        for source in self._inputs:
            close_pass(source)


def sampled(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration):
    """Dataset arguments for elements of datasets picked at random."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    given = _weights(weights, len(datasets)) if weights is not None and not hasattr(weights, "_start") else None
    if given is not None:
        # Those that are never chosen would keep the others from ever ending.
        datasets = [dataset for dataset, weight in zip(datasets, given) if weight > 0]
        weights = given[given > 0]
    spec = _common_spec(datasets)
    if len(datasets) == 1 and not hasattr(weights, "_start"):
        return "DirectedInterleave", datasets[0]._start, spec, datasets[0]._size
    count = len(datasets)
    seeds = SeedGenerator(*graph_and_op_seed(seed), rerandomize_each_iteration is True)
    if hasattr(weights, "_start"):
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
        numbers = _Choices(stream, seeds, fixed, None if rows is None else rows._start())
        return _Interwoven(datasets, numbers, stop_on_empty_dataset)

    size = _woven_size(datasets, stop_on_empty_dataset)
    return "DirectedInterleave", start, spec, size


class _Choices(Pass):
    """Numbers of datasets drawn with given probabilities, as TensorFlow draws them."""

    __slots__ = ("_logits", "_rows", "_seeds", "_stream")

    def __init__(self, stream, seeds, logits, rows):
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
        stream = [self._stream._key, self._stream._high, self._stream.position]
        return [stream, self._seeds.position, None if self._rows is None else self._rows.save()]

    def restore(self, state):
        (key, high, at), drawn, rows = state
        self._stream = PhiloxStream(key, high)
        self._stream.seek(at)
        self._seeds.seek(drawn)
        if rows is not None:
            self._rows.restore(rows)


def _weights(weights, count):
    found = np.asarray(weights.numpy() if hasattr(weights, "numpy") else weights, np.float64)
    if found.shape != (count,):
        raise ValueError(
            "Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is "
            f"{list(found.shape)}."
        )
    if not (found >= 0).all() or found.sum() <= 0:
        raise ValueError(f"Invalid `weights`. They must not be negative, and not all zero: {found.tolist()}.")
    return found


def _common_spec(datasets):
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        try:
            spec = element.map_leaves(_compatible, spec, other.element_spec)
        except (TypeError, ValueError):
            raise TypeError(
                f"All datasets must have compatible element specs: {spec} and {other.element_spec} are not."
            ) from None
    return spec
