"""Transformations by a user's function: map, filter, flat_map, interleave, scan, reduce, prefetch."""

from __future__ import annotations

import contextlib

from tapeflow.core import dtypes
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

    def outputs():
        try:
            for value in dataset._start():
                # As `call`, without its cost: this is the hot loop of most input pipelines.
                output = fn(*value) if type(value) is tuple else fn(value)
                yield output_element(output)
        except StopIteration as error:
            raise RuntimeError(f"Dataset.map: {fn} raised StopIteration") from error

    def elements():
        if workers in (None, 1):
            return _noting(outputs, "map")
        return map_in_threads(
            lambda value: output_element(call(fn, value)), dataset._start(), workers
        )

    return "Map", elements, lambda: output_spec(dataset, fn), dataset._size


def _noting(outputs, transformation):
    """The outputs of a generator function; an exception says at which element it was raised."""
    count = 0
    try:
        for output in outputs():
            count += 1
            yield output
    except Exception as error:
        error.add_note(f"in Dataset.{transformation}, at element {count}")
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

    def outputs():
        source = enumerate(dataset._start())
        slots = [None] * cycle
        open_slots, slot = 0, 0
        more = True
        while more or open_slots:
            if slots[slot] is None and more:
                position, value = next(source, (None, None))
                if position is None:
                    more = False
                    continue
                with naming("interleave", position):
                    slots[slot] = iter(_inner_dataset(fn, value, "interleave")._start())
                open_slots += 1
            if slots[slot] is not None:
                for _ in range(block):
                    try:
                        value = next(slots[slot])
                    except StopIteration:
                        slots[slot] = None
                        open_slots -= 1
                        break
                    yield value
            slot = (slot + 1) % cycle

    return "Interleave", outputs, lambda: _inner_spec(dataset, fn)


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


def reduced(dataset, initial_state, fn):
    """The last state of a fold over the dataset."""
    require_callable(fn, "reduce_func")
    initial = state = element.to_element(initial_state)
    for position, value in enumerate(dataset):
        with naming("reduce", position):
            state = same_state(initial, fn(state, value))
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
