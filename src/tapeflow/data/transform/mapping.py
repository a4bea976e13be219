"""Transformations by a user's function of one element: map, filter, scan, take_while, reduce."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Over, begun
from tapeflow.data.iteration.threads import InThreads, read_ahead
from tapeflow.data.parts import rows_of, size_of, start_of
from tapeflow.data.transform import mapping_batches
from tapeflow.data.transform.mapped_pass import Mapped
from tapeflow.data.transform.tracing import of_elements, translated


def mapped(dataset, fn, num_parallel_calls, deterministic):
    """Dataset arguments for a function of every element."""
    workers = None
    if num_parallel_calls is not None:
        workers = integer(num_parallel_calls, "ParallelMapDataset")
        message = "num_parallel_calls must be greater than zero."
        require(workers > 0 or workers == -1, message, "ParallelMapDataset")
    rows = mapping_batches.mapped_rows(rows_of(dataset), fn)
    if workers in (None, 1):
        return "Map", lambda: Mapped(fn, start_of(dataset)()), fn.spec, size_of(dataset), rows

    def start():
        return InThreads(of_elements(fn), fn.transformation, start_of(dataset)(), workers, deterministic)

    return "ParallelMap", start, fn.spec, size_of(dataset), rows


def check_predicate(spec, name):
    """Raises ValueError for a predicate that does not return a scalar bool."""
    if not (
        isinstance(spec, TensorSpec) and spec.dtype == dtypes.bool and spec.shape.is_compatible_with([])
    ):
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return "
            f"type is {spec}."
        )


def filtered(dataset, fn):
    """Dataset arguments for the elements that a predicate accepts."""
    check_predicate(fn.spec, "filter")
    return "Filter", lambda: _Filtered(fn, start_of(dataset)()), lambda: dataset.element_spec


class _Filtered(Mapped):
    __slots__ = ()

    def __next__(self):
        call, spread = self._call, self._spread
        for value in self._input:
            self._position += 1
            try:
                keep = call(*value) if spread else call(value)
                if keep:
                    return value
            except Exception as error:
                raise translated(error, self._fn.transformation, self._position) from error
        raise StopIteration


def taken_while(dataset, fn):
    """Dataset arguments for the elements before the predicate fails."""
    check_predicate(fn.spec, "take_while")
    return "TakeWhile", lambda: _TakenWhile(fn, start_of(dataset)()), lambda: dataset.element_spec


class _TakenWhile(Mapped):
    __slots__ = ("_over",)

    def __init__(self, fn, values):
        super().__init__(fn, values)
        self._over = False

    def __next__(self):
        if not self._over:
            for value in self._input:
                self._position += 1
                try:
                    keep = self._call(*value) if self._spread else self._call(value)
                except Exception as error:
                    raise translated(error, "take_while", self._position) from error
                if keep:
                    return value
                break
        self._over = True
        raise StopIteration

    def save(self):
        return [super().save(), self._over]

    def restore(self, state):
        inner, self._over = state
        super().restore(inner)


def scanned(dataset, initial_state, fn):
    """Dataset arguments for a function with a state."""
    start = element.to_element(initial_state)
    spec = fn.spec[1]
    return "Scan", lambda: _Scanned(fn, start_of(dataset)(), start), spec, size_of(dataset)


class _Scanned(Over):
    __slots__ = ("_call", "_position", "_state")

    def __init__(self, fn, values, state):
        super().__init__(values)
        self._call = fn.begun()
        self._state = state
        self._position = -1

    def __next__(self):
        value = next(self._input)
        self._position += 1
        try:
            self._state, output = self._call(self._state, value)
        except Exception as error:
            raise translated(error, "scan", self._position) from error
        return output

    def save(self):
        return [self._input.save(), self._position, self._state]

    def restore(self, state):
        inner, self._position, self._state = state
        self._input.restore(inner)


def same_count(initial, state):
    """Raises InvalidArgumentError for a state that is not of as many leaves as the first."""
    counts = len(element.flatten(initial)), len(element.flatten(state))
    message = (
        "The number of components of the initial state and the reduce function output does not match. "
        f"(initial_state={counts[0]}, output={counts[1]})."
    )
    require(counts[0] == counts[1], message, "ReduceDataset")


def reduced(dataset, state, fn):
    """The last state of a fold over the dataset."""
    call = fn.begun()
    for position, value in enumerate(begun(start_of(dataset))):
        try:
            state = call(state, value)
        except Exception as error:
            raise translated(error, "reduce", position) from error
    return state


def prefetched(dataset, buffer_size):
    """Dataset arguments for elements made ahead of their use."""
    op = "PrefetchDataset"
    size = -1 if buffer_size is None else integer(buffer_size, op)
    message = f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, but got {size}"
    require(size >= -1, message, op)
    spec = lambda: dataset.element_spec  # noqa: E731
    if size == 0:
        return "Prefetch", start_of(dataset), spec, size_of(dataset)
    ahead = 8 if size == -1 else size
    start = lambda: read_ahead(start_of(dataset), ahead, dataset._effects)  # noqa: E731
    return "Prefetch", start, spec, size_of(dataset), rows_of(dataset)
