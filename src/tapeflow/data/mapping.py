"""Transformations by a user's function: map, filter, flat_map, interleave, scan, reduce, prefetch."""

from __future__ import annotations

import contextlib

from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require, require_callable
from tapeflow.data.threads import map_in_threads, read_ahead
from tapeflow.ops.construction import zeros

_UNKNOWN = -2


def call(fn, value):
    """`fn` of an element: a tuple is spread over the arguments."""
    return fn(*value) if type(value) is tuple else fn(value)


@contextlib.contextmanager
def naming(transformation, position):
    """Adds to any exception which transformation and element it came from."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in Dataset.{transformation}, at element {position}")
        raise


def mapped(dataset, fn, num_parallel_calls, deterministic):
    """Dataset arguments for a function of every element."""
    require_callable(fn)
    workers = None
    if num_parallel_calls is not None:
        workers = integer(num_parallel_calls, "ParallelMapDataset")
        message = "num_parallel_calls must be greater than zero."
        require(workers > 0 or workers == -1, message, "ParallelMapDataset")

    def elements():
        if workers in (None, 1):
            return _Mapped(fn, dataset._start())
        return map_in_threads(
            lambda value: output_element(call(fn, value)), dataset._start(), workers
        )

    return "Map", elements, lambda: output_spec(dataset, fn), dataset._size


class _Mapped:
    """`fn` of each value. After an error the pass goes on with the next value."""

    __slots__ = ("_fn", "_position", "_values")

    def __init__(self, fn, values):
        self._fn = fn
        self._values = iter(values)
        self._position = -1

    def __iter__(self):
        return self

    def __next__(self):
        value = next(self._values)
        self._position += 1
        try:
            # As `call`, without its cost: this is the hot loop of most input pipelines.
            return output_element(self._fn(*value) if type(value) is tuple else self._fn(value))
        except Exception as error:
            note = f"in Dataset.map, at element {self._position}"
            if isinstance(error, StopIteration):
                raise InvalidArgumentError(
                    None, None, f"Function invocation produced OutOfRangeError: StopIteration {note}"
                ) from error
            error.add_note(note)
            raise


def output_element(output):
    """What a user's function returned, as an element: a list at the top is a tuple."""
    if type(output) is list:
        output = tuple(output)
    if type(output) is tuple:
        return tuple([element.to_element(item) for item in output])
    return element.to_element(output)


def output_spec(dataset, fn):
    """The spec of fn's outputs.

    Found by calling it on zeros, twice where the input has unknown dimensions: dimensions that
    differ between the calls are unknown. Where zeros are no sensible input, the first element serves.
    """
    if hasattr(fn, "spec"):
        return fn.spec
    try:
        small, large = (
            element.spec_of(output_element(call(fn, zeros_like_spec(dataset.element_spec, size))))
            for size in (2, 3)
        )
        return element.map_leaves(element.merge_specs, small, large)
    except Exception:  # fn is the user's: whatever it does not like about zeros
        for value in dataset._start():
            return element.spec_of(output_element(call(fn, value)))
        raise


def zeros_like_spec(spec, unknown):
    """An element of zeros, with unknown dimensions of size `unknown`."""

    def make(leaf):
        if not isinstance(leaf, TensorSpec) or leaf.shape.rank is None:
            raise TypeError(f"no zeros for {leaf}")
        shape = [unknown if size is None else size for size in leaf.shape.as_list()]
        return zeros(shape, leaf.dtype)

    return element.map_leaves(make, spec)


def filtered(dataset, predicate):
    """Dataset arguments for the elements that a predicate accepts."""
    require_callable(predicate)

    def outputs():
        for position, value in enumerate(dataset._start()):
            with naming("filter", position):
                keep = element.to_element(call(predicate, value))
                if keep.dtype != dtypes.bool or keep.shape.rank != 0:
                    raise ValueError(
                        "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but "
                        f"its return type is {element.leaf_spec(keep)}."
                    )
            if keep:
                yield value

    return "Filter", outputs, lambda: dataset.element_spec


def _inner_dataset(fn, value, transformation):
    inner = call(fn, value)
    if not hasattr(inner, "_start"):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {type(inner)} [{transformation}]."
        )
    return inner


def _inner_spec(dataset, fn):
    """The spec of the elements of the datasets that fn returns."""
    if hasattr(fn, "spec"):
        if not hasattr(fn.spec, "element_spec"):
            raise TypeError(f"`map_func` must return a `Dataset` object. Got {fn.spec}.")
        return fn.spec.element_spec
    try:
        return call(fn, zeros_like_spec(dataset.element_spec, 2)).element_spec
    except Exception:  # as in output_spec
        for value in dataset._start():
            return call(fn, value).element_spec
        raise


def flat_mapped(dataset, fn):
    """Dataset arguments for the elements of datasets, one after another."""
    require_callable(fn)

    def outputs():
        for position, value in enumerate(dataset._start()):
            with naming("flat_map", position):
                inner = _inner_dataset(fn, value, "flat_map")
            yield from inner._start()

    return "FlatMap", outputs, lambda: _inner_spec(dataset, fn)


def interleaved(dataset, fn, cycle_length, block_length):
    """Dataset arguments for elements of several datasets in turn."""
    require_callable(fn)
    op = "InterleaveDataset"
    cycle = 2 if cycle_length in (None, -1) else integer(cycle_length, op)
    block = 1 if block_length is None else integer(block_length, op)
    require(cycle > 0, "`cycle_length` must be > 0", op)
    require(block > 0, "`block_length` must be > 0", op)

    def elements():
        return _Interleaved(fn, dataset._start(), cycle, block)

    return "Interleave", elements, lambda: _inner_spec(dataset, fn)


class _Interleaved:
    """Elements of the datasets that `fn` makes, in turn. After an error the pass goes on."""

    def __init__(self, fn, values, cycle, block):
        self._fn = fn
        self._values = iter(values)
        self._slots = [None] * cycle
        self._block = block
        self._slot = self._taken = self._position = self._open = 0

    def __iter__(self):
        return self

    def __next__(self):
        while self._values is not None or self._open:
            if self._slots[self._slot] is None and self._values is not None:
                try:
                    value = next(self._values)
                except StopIteration:
                    self._values = None
                    continue
                self._position += 1
                with naming("interleave", self._position - 1):
                    inner = _inner_dataset(self._fn, value, "interleave")
                    self._slots[self._slot] = iter(inner._start())
                self._open += 1
            if self._slots[self._slot] is not None and self._taken < self._block:
                try:
                    value = next(self._slots[self._slot])
                except StopIteration:
                    self._slots[self._slot] = None
                    self._open -= 1
                else:
                    self._taken += 1
                    return value
            self._slot = (self._slot + 1) % len(self._slots)
            self._taken = 0
        raise StopIteration


def scanned(dataset, initial_state, fn):
    """Dataset arguments for a function with a state."""
    require_callable(fn)
    start = element.to_element(initial_state)

    def outputs():
        state = start
        for position, value in enumerate(dataset._start()):
            with naming("scan", position):
                result = fn(state, value)
                if not isinstance(result, (tuple, list)) or len(result) != 2:
                    raise TypeError(
                        "`scan_func` must return a pair comprising the new state and the output "
                        f"value, got {result!r}."
                    )
                state = same_state(start, result[0])
                output = element.to_element(result[1])
            yield output

    def spec():
        if hasattr(fn, "spec"):
            return fn.spec[1]
        return output_spec(
            dataset, lambda *value: fn(start, value if len(value) > 1 else value[0])[1]
        )

    return "Scan", outputs, spec, dataset._size


def same_state(initial, state):
    """A new state as an element; raises TypeError when it is of another type than the first."""
    state = element.to_element(state)

    def check(old, new):
        if getattr(new, "dtype", None) != getattr(old, "dtype", None):
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{old.dtype!r} but got {new.dtype!r}."
            )
        return new

    return element.map_leaves(check, initial, state)


def same_count(initial, state):
    """Raises InvalidArgumentError for a state that is not of as many leaves as the first."""
    counts = len(element.flatten(initial)), len(element.flatten(state))
    message = (
        "The number of components of the initial state and the reduce function output does not match. "
        f"(initial_state={counts[0]}, output={counts[1]})."
    )
    require(counts[0] == counts[1], message, "ReduceDataset")


def reduced(dataset, initial_state, fn):
    """The last state of a fold over the dataset."""
    require_callable(fn, "reduce_func")
    initial = state = element.to_element(initial_state)
    for position, value in enumerate(dataset):
        with naming("reduce", position):
            new = fn(state, value)
            same_count(initial, new)
            state = same_state(initial, new)
    return state


def prefetched(dataset, buffer_size):
    """Dataset arguments for elements made ahead of their use."""
    op = "PrefetchDataset"
    size = -1 if buffer_size is None else integer(buffer_size, op)
    message = "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning"
    require(size >= -1, message, op)
    if size == 0:
        return "Prefetch", dataset._start, lambda: dataset.element_spec, dataset._size
    ahead = 8 if size == -1 else size
    start = lambda: read_ahead(dataset._start, ahead)  # noqa: E731
    return "Prefetch", start, lambda: dataset.element_spec, dataset._size, dataset._rows
