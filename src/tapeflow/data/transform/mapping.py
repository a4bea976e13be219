"""Transformations by a user's function of one element: map, filter, take_while, scan; and reduce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import element
from tapeflow.data.arguments import integer, require
from tapeflow.data.iteration.passes import Over, begun
from tapeflow.data.iteration.threads import InThreads
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import mapping_batches
from tapeflow.data.transform.folding import folded
from tapeflow.data.transform.mapped_pass import Mapped
from tapeflow.data.transform.record import (
    ELEMENTS,
    is_plain,
    of_element,
    record,
    same_spec,
    with_order,
    written_order,
)
from tapeflow.data.transform.tracing import of_elements, translated
from tapeflow.ops.signature import func, type_list

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.data.nodes.nodes import Applied
    from tapeflow.data.sources.records import TFRecordDataset
    from tapeflow.data.sources.rows import RowPass
    from tapeflow.data.transform.tracing import Traced

_OF_ELEMENT = "input_dataset: variant, other_arguments: Targuments -> handle: variant"
_PARALLEL = "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: {} -> handle: variant"
_FUNCTION = {"f": func, "Targuments": type_list, **ELEMENTS}
_PREDICATE = {"predicate": func, "Targuments": type_list, **ELEMENTS, "metadata": ""}


class MappingMethods:
    """Methods of Dataset."""

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: int | None = None, deterministic=None,
        synchronous=None, use_unbounded_threadpool: bool = False, name: str | None = None,
    ):
        """Apply a function to each element.

        Args:
          map_func: a function of the parts of an element that is a tuple, and of the element otherwise; it is traced
            once, so that Python code in it runs once.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          synchronous: whether calls run in the thread that takes the elements; None where there are no parallel
            calls.
          use_unbounded_threadpool: accepted; threads are shared.
          name: the name of the transformation in a graph.

        Returns:
          A dataset of the results.

        Raises:
          ValueError: for both `synchronous` and `num_parallel_calls`.

        >>> print([int(x) for x in tf.data.Dataset.range(3).map(lambda x: x * 10)])
        [0, 10, 20]
        """
        if synchronous and num_parallel_calls is not None:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to "
                f"{num_parallel_calls}."
            )
        return mapped(self, map_func, num_parallel_calls, deterministic)

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls=None, deterministic=None,
        use_unbounded_threadpool: bool = False,
    ):
        """Apply a function to each element, as `map` does (1.x).

        Args:
          map_func: a function of the parts of an element that is a tuple, and of the element otherwise.
          num_parallel_calls: how many calls run at once; None for one, `tf.data.AUTOTUNE` for as many as are useful.
          deterministic: whether elements come in the order of their inputs; None for the dataset's options.
          use_unbounded_threadpool: accepted; threads are shared.

        Returns:
          A dataset of the results.
        """
        return mapped(self, map_func, num_parallel_calls, deterministic)

    def filter(self, predicate: Callable[..., Any], name: str | None = None):
        """Keep the elements for which a function is true.

        Args:
          predicate: a function of an element that gives a scalar bool.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: for a function that gives something else.

        >>> print([int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0)])
        [0, 2, 4]
        """
        return filtered(self, predicate)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]):
        """`filter` (1.x)."""
        return filtered(self, predicate)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None):
        """Keep the elements until a function is false for the first time.

        Args:
          predicate: a function of an element that gives a scalar bool.
          name: the name of the transformation in a graph.

        Returns:
          A dataset.

        Raises:
          ValueError: for a function that gives something else.
        """
        return taken_while(self, predicate)

    def scan(self, initial_state: TensorLike, scan_func: Callable[..., Any], name: str | None = None):
        """Apply a function that carries a state from element to element.

        Args:
          initial_state: the state to start from, a structure of tensors.
          scan_func: a function of the state and an element that gives (the next state, an output).
          name: the name of the transformation in a graph.

        Returns:
          A dataset of the outputs.

        Raises:
          TypeError: for a function whose states are of another structure or dtype.

        >>> sums = tf.data.Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x))
        >>> print([int(x) for x in sums])
        [0, 1, 3, 6]
        """
        return scanned(self, element.to_element(initial_state), scan_func)


@record("map", functions={"map_func": of_element})
def mapped(dataset: Dataset, map_func: Any, num_parallel_calls: int | None = None, deterministic=None):
    """Dataset arguments for a function of every element."""
    workers, parts = None, parts_of(dataset)
    if num_parallel_calls is not None:
        workers = integer(num_parallel_calls, "ParallelMapDataset")
        message = "num_parallel_calls must be greater than zero."
        require(workers > 0 or workers == -1, message, "ParallelMapDataset")
    rows = mapping_batches.mapped_rows(parts.rows, map_func)
    if workers in (None, 1):
        return "Map", lambda: Mapped(map_func, parts.start()), map_func.spec, parts.size, rows

    def start():
        return InThreads(of_elements(map_func), map_func.transformation, parts.start(), workers, deterministic)

    return "ParallelMap", start, map_func.spec, parts.size, rows


mapped.node(
    "MapDataset", _OF_ELEMENT,
    {**_FUNCTION, "use_inter_op_parallelism": True, "preserve_cardinality": False, "force_synchronous": False,
     "metadata": ""},
    writes=lambda call: {**call, "preserve_cardinality": True} if call["num_parallel_calls"] is None else None,
).also("ExperimentalMapDataset")
mapped.node(
    "ParallelMapDataset", _PARALLEL.format("int32"),
    {**_FUNCTION, "use_inter_op_parallelism": True, "sloppy": False, "preserve_cardinality": False, "metadata": ""},
    reads=lambda attrs, given: {**given, "deterministic": False if attrs["sloppy"] else None},
    written=False,
)
mapped.node(
    "ParallelMapDatasetV2", _PARALLEL.format("int64"),
    {**_FUNCTION, "use_inter_op_parallelism": True, "deterministic": "default", "preserve_cardinality": False,
     "use_unbounded_threadpool": False, "metadata": ""},
    reads=with_order,
    writes=lambda call: {**call, "preserve_cardinality": True, "deterministic": written_order(call["deterministic"])},
)  # fmt: skip


def check_predicate(spec: TensorSpec, name: str):
    """Raises ValueError for a predicate that does not return a scalar bool."""
    if not (
        isinstance(spec, TensorSpec) and spec.dtype == dtypes.bool and spec.shape.is_compatible_with([])
    ):
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return "
            f"type is {spec}."
        )


@record("filter", functions={"predicate": of_element}, spec=same_spec)
def filtered(dataset: Dataset, predicate: Applied | Traced):
    """Dataset arguments for the elements that a predicate accepts."""
    check_predicate(predicate.spec, "filter")
    return "Filter", lambda: _Filtered(predicate, parts_of(dataset).start()), lambda: dataset.element_spec


filtered.node("FilterDataset", _OF_ELEMENT, _PREDICATE)
filtered.node(
    "ParallelFilterDataset", _PARALLEL.format("int64"),
    {"predicate": func, "deterministic": "default", "Targuments": type_list, **ELEMENTS, "metadata": ""},
    written=False,
)  # fmt: skip


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


@record("take_while", functions={"predicate": of_element}, spec=same_spec)
def taken_while(dataset: Dataset, predicate: Applied | Traced):
    """Dataset arguments for the elements before the predicate fails."""
    check_predicate(predicate.spec, "take_while")
    return "TakeWhile", lambda: _TakenWhile(predicate, parts_of(dataset).start()), lambda: dataset.element_spec


taken_while.node("TakeWhileDataset", _OF_ELEMENT, _PREDICATE).also("ExperimentalTakeWhileDataset")


class _TakenWhile(Mapped):
    __slots__ = ("_over",)

    def __init__(self, fn: Applied | Traced, values: RowPass | Mapped):
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

    def restore(self, state: Sequence[Any]):
        inner, self._over = state
        super().restore(inner)


@record("scan", functions={"scan_func": folded}, spec=lambda call: call["scan_func"].spec[1])
def scanned(dataset: Dataset, initial_state: Tensor, scan_func: Applied | Traced):
    """Dataset arguments for a function with a state."""
    start = element.to_element(initial_state)
    spec = scan_func.spec[1]
    return "Scan", lambda: _Scanned(scan_func, parts_of(dataset).start(), start), spec, parts_of(dataset).size


scanned.node(
    "ScanDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant",
    {"f": func, "Tstate": type_list, "Targuments": type_list, **ELEMENTS, "preserve_cardinality": False,
     "use_default_device": True, "metadata": ""},
    writes=lambda call: _with_state(call) if is_plain(element.spec_of(call["initial_state"])) else None,
).also("ExperimentalScanDataset", without=("use_default_device", "metadata"))


def _with_state(call: dict[str, Any]):
    return {**call, "initial_state": element.flatten(call["initial_state"]), "preserve_cardinality": True}


class _Scanned(Over):
    __slots__ = ("_call", "_position", "_state")

    def __init__(self, fn: Applied | Traced, values: RowPass | Mapped, state: Tensor):
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

    def restore(self, state: Sequence[Any]):
        inner, self._position, self._state = state
        self._input.restore(inner)


def reduced(dataset: Dataset | TFRecordDataset, state: Tensor, fn: Any):
    """The last state of a fold over the dataset."""
    call = fn.begun()
    for position, value in enumerate(begun(parts_of(dataset).start)):
        try:
            state = call(state, value)
        except Exception as error:
            raise translated(error, "reduce", position) from error
    return state


boundaries(globals())
