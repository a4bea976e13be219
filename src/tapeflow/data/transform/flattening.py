"""Transformations by functions that return datasets: flat_map and interleave."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries
from tapeflow.data.arguments import integer, require
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Over, Raising, close_pass, later
from tapeflow.data.iteration.threads import read_ahead
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import ELEMENTS, of_element, record, with_order, written_order
from tapeflow.data.transform.tracing import of_elements, translated
from tapeflow.ops.signature import func, type_list

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.data.iteration.passes import Counted
    from tapeflow.data.sources.rows import RowPass

_TURNS = "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64"
_FUNCTION = {"f": func, "Targuments": type_list, **ELEMENTS}


class FlatteningMethods:
    """Methods of Dataset."""

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None):
        """Give the elements of the datasets that a function makes, one dataset after another.

        Args:
          map_func: a function of an element that gives a dataset.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          TypeError: for a function that gives something else.

        >>> dataset = tf.data.Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(x))
        >>> print([int(x) for x in dataset])
        [0, 0, 1]
        """
        return flat_mapped(self, map_func)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: int | None = None, block_length: int | None = None,
        num_parallel_calls: int | None = None, deterministic: bool | None = None, name: str | None = None,
    ):
        """Take elements in turn from several of the datasets that a function makes.

        Args:
          map_func: a function of an element that gives a dataset.
          cycle_length: from how many datasets elements are taken in turn; None for as many as there are parallel
            calls.
          block_length: how many elements are taken from a dataset before the next; None for 1.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2]).interleave(
        ...     lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2)
        >>> print([int(x) for x in dataset])
        [1, 2, 1, 2, 1, 2]
        """
        return interleaved(self, map_func, cycle_length, block_length, num_parallel_calls, deterministic)


def _inner_spec(fn: Any, name: str):
    if not isinstance(fn.spec, DatasetSpec):
        raise TypeError(
            f"The `map_func` argument must return a `Dataset` object. Got {fn.spec} [Dataset.{name}]."
        )
    return fn.spec.element_spec


@record("flat_map", functions={"map_func": of_element}, flattens=True)
def flat_mapped(dataset: Dataset, map_func: Any):
    """Dataset arguments for the elements of datasets, one after another."""
    spec = _inner_spec(map_func, "flat_map")
    return "FlatMap", lambda: _FlatMapped(map_func, parts_of(dataset).start()), spec


flat_mapped.node(
    "FlatMapDataset", "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    {**_FUNCTION, "metadata": ""},
)  # fmt: skip


class _FlatMapped(Over):
    """The elements of the datasets that `fn` makes of the elements of a pass."""

    __slots__ = ("_call", "_inner", "_position", "_start", "_value")

    def __init__(self, fn: Any, values: RowPass):
        super().__init__(values)
        self._call = of_elements(fn)
        self._start = later(self._started)
        self._inner = None
        self._value = None
        self._position = -1

    def __next__(self):
        while True:
            if self._inner is None:
                self._value = next(self._input)
                self._position += 1
                self._begin()
            try:
                return next(self._inner)
            except StopIteration:
                self._inner = None

    def _started(self, value: Tensor):
        return parts_of(self._call(value)).start()

    def _begin(self):
        try:
            self._inner = self._start(self._value)
        except Exception as error:
            raise translated(error, "flat_map", self._position) from error

    def save(self):
        inside = None if self._inner is None else [self._value, self._inner.save()]
        return [self._input.save(), self._position, inside]

    def restore(self, state):
        outer, self._position, inside = state
        self._input.restore(outer)
        self._inner = None
        if inside is not None:
            self._value = inside[0]
            self._begin()
            self._inner.restore(inside[1])

    def close(self):
        close_pass(self._inner)
        super().close()


@record("interleave", functions={"map_func": of_element}, flattens=True)
def interleaved(
    dataset: Dataset, map_func: Any, cycle_length: int | None = None, block_length: int | None = None,
    num_parallel_calls: int | None = None, deterministic: bool | None = None,
):
    """Dataset arguments for elements of several datasets in turn."""
    parallel = num_parallel_calls is not None
    op = "ParallelInterleaveDatasetV4" if parallel else "InterleaveDataset"
    cores = os.cpu_count() or 1
    cycle = -1 if cycle_length is None else integer(cycle_length, op)
    if cycle == -1:
        # As many as can be read at once, as TensorFlow has it.
        calls = -1 if num_parallel_calls is None else integer(num_parallel_calls, op)
        cycle = max(2, min(cores, 10)) if calls == -1 else min(calls, cores)
    block = 1 if block_length is None else integer(block_length, op)
    require(cycle > 0, f"`cycle_length` must be > 0, but is {cycle}", op)
    require(block > 0, f"`block_length` must be > 0, but is {block}", op)
    if parallel:
        calls = integer(num_parallel_calls, op)
        require(calls > 0 or calls == -1, f"`num_parallel_calls` must be > 0, but is {calls}", op)
        require(calls <= cycle, f"`num_parallel_calls` must be <= `cycle_length`, but {calls} > {cycle}", op)
    spec = _inner_spec(map_func, "interleave")

    def start():
        return Interleaved(map_func, parts_of(dataset).start(), cycle, block, parallel)

    return "ParallelInterleave" if parallel else "Interleave", start, spec


def _in_turn(attrs, given):
    """The arguments of nodes whose calls ran beside each other once."""
    return {**given, "num_parallel_calls": None, "deterministic": True}


_TURNS_ABSENT = {"cycle_length": -1, "block_length": 1}
interleaved.node(
    "InterleaveDataset", f"{_TURNS} -> handle: variant", {**_FUNCTION, "metadata": ""},
    writes=lambda call: call if call["num_parallel_calls"] is None else None, absent=_TURNS_ABSENT,
)  # fmt: skip
interleaved.node(
    "ParallelInterleaveDataset",
    f"{_TURNS}, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant",
    {**_FUNCTION, "metadata": ""}, reads=_in_turn, written=False,
).also("ExperimentalParallelInterleaveDataset")
interleaved.node(
    "LegacyParallelInterleaveDatasetV2",
    f"{_TURNS}, buffer_output_elements: int64, prefetch_input_elements: int64 -> handle: variant",
    {"f": func, "deterministic": "default", "Targuments": type_list, **ELEMENTS, "metadata": ""}, reads=_in_turn,
    written=False,
)  # fmt: skip
interleaved.node(
    "ParallelInterleaveDatasetV2", f"{_TURNS}, num_parallel_calls: int64 -> handle: variant",
    {**_FUNCTION, "sloppy": False, "metadata": ""},
    reads=lambda attrs, given: {**given, "deterministic": False if attrs["sloppy"] else None}, written=False,
)  # fmt: skip
interleaved.node(
    "ParallelInterleaveDatasetV3", f"{_TURNS}, num_parallel_calls: int64 -> handle: variant",
    {"f": func, "deterministic": "default", "Targuments": type_list, **ELEMENTS, "metadata": ""}, reads=with_order,
    written=False,
)  # fmt: skip
interleaved.node(
    "ParallelInterleaveDatasetV4",
    f"{_TURNS}, buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64"
    " -> handle: variant",
    {"f": func, "deterministic": "default", "Targuments": type_list, **ELEMENTS, "metadata": ""}, reads=with_order,
    writes=lambda call: {
        **call, "buffer_output_elements": -1, "prefetch_input_elements": -1,
        "deterministic": written_order(call["deterministic"]),
    },
    absent=_TURNS_ABSENT,
)  # fmt: skip


class Interleaved(Over):
    """Elements of the datasets that `fn` makes, `block` at a time, from `cycle` of them in turn."""

    __slots__ = (
        "_block", "_call", "_cycle", "_open", "_over", "_parallel", "_position", "_slot", "_slots", "_start", "_taken",
    )  # fmt: skip

    def __init__(self, fn: Any, values: Counted | RowPass, cycle: int, block: int, parallel: bool):
        super().__init__(values)
        self._call = of_elements(fn)
        self._start = later(self._started)
        self._slots = [None]  # (element, pass); more when they are needed, as `cycle` may be huge
        self._cycle = cycle
        self._block = block
        self._parallel = parallel
        self._over = False
        self._slot = self._taken = self._position = self._open = 0

    def __next__(self):
        while not self._over or self._open:
            slot = self._slots[self._slot]
            if slot is None and not self._over:
                try:
                    value = next(self._input)
                except StopIteration:
                    self._over = True
                    continue
                except Exception as error:
                    if not self._parallel:
                        raise
                    value, inner = None, Raising(error)  # in its turn, as if it were a dataset
                else:
                    self._position += 1
                    inner = self._begun(value)
                slot = self._slots[self._slot] = value, inner
                self._open += 1
            if slot is not None and self._taken < self._block:
                self._taken += 1
                try:
                    return next(slot[1])
                except StopIteration:
                    self._slots[self._slot] = None
                    self._open -= 1
            self._slot += 1
            if self._slot == len(self._slots):
                if self._over or self._slot == self._cycle:
                    self._slot = 0
                else:
                    self._slots.append(None)
            self._taken = 0
        raise StopIteration

    def _started(self, value: Tensor):
        inner = self._call(value)
        return read_ahead(parts_of(inner).start, 2 * self._block) if self._parallel else parts_of(inner).start()

    def _begun(self, value: Tensor):
        try:
            return self._start(value)
        except Exception as error:
            found = translated(error, "interleave", self._position - 1)
            if self._parallel:
                return Raising(found)
            raise found from error

    def save(self):
        slots = [None if slot is None else [slot[0], slot[1].save()] for slot in self._slots]
        return [self._input.save(), slots, self._over, self._slot, self._taken, self._position]

    def restore(self, state):
        outer, slots, self._over, self._slot, self._taken, self._position = state
        if not 0 <= self._slot < len(slots) <= self._cycle:
            raise ValueError(f"slot {self._slot} of {len(slots)}, where {self._cycle} are in turn")
        self._input.restore(outer)
        self._open = 0
        self._slots = [None] * len(slots)
        for number, saved in enumerate(slots):
            if saved is not None:
                inner = Raising(None) if saved[0] is None else self._begun(saved[0])
                inner.restore(saved[1])
                self._slots[number] = saved[0], inner
                self._open += 1

    def close(self):
        for slot in self._slots:
            if slot is not None:
                close_pass(slot[1])
        super().close()


boundaries(globals())
