"""What is computed of whole datasets, as tensors: folds, single elements and sizes, also while a graph is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import leaves
from tapeflow.data.arguments import require_callable
from tapeflow.data.dataset_class import with_inputs
from tapeflow.data.parts import parts_of
from tapeflow.data.transform import mapping
from tapeflow.data.transform.folding import first_state, with_state
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.run import order, planning


def _folds_in_graphs() -> ModuleType:
    from tapeflow.data.nodes import folds_in_graphs  # a circle: it is made of this module

    return folds_in_graphs


_NUMBER = TensorSpec([], dtypes.int64)


# Folds.


def fold(dataset: Any, initial_state: Any, fn: Callable[..., Any]) -> tuple[Any, Traced]:
    """The first state of a fold, and its traced function."""
    require_callable(fn, "reduce_func")
    state = first_state(initial_state)
    return state, with_state(fn, state, dataset.element_spec, "reduce")[0]


def reduce(dataset: Any, initial_state: Any, fn: Callable[..., Any]) -> Any:
    """`Dataset.reduce` as a node."""
    folds_in_graphs = _folds_in_graphs()
    require_callable(fn, "reduce_func")
    state = first_state(initial_state)
    traced, kept = with_state(fn, state, dataset.element_spec, "reduce")
    found = folds_in_graphs.reduced(dataset, state, traced, kept)
    if found is not None:
        return found
    given = leaves.to_tensors(kept, state)
    counts = len(parts_of(dataset).captured), len(given)

    def run(*values: Any) -> list[Any]:
        source, rest = values[: counts[0]], values[counts[0] :]
        folded = traced.bound(rest[counts[1] :])
        found = leaves.from_tensors(kept, rest[: counts[1]])
        return leaves.to_tensors(kept, mapping.reduced(with_inputs(dataset, source), found, folded))

    return _node(run, [*parts_of(dataset).captured, *given, *traced.inputs], kept)


def single_element(dataset: Any, eagerly: Callable[[Any], Any]) -> Any:
    """`Dataset.get_single_element` as a node."""
    folds_in_graphs = _folds_in_graphs()
    spec = dataset.element_spec
    found = folds_in_graphs.single_element(dataset)
    if found is not None:
        return found

    def run(*values: Any) -> list[Any]:
        return leaves.to_tensors(spec, eagerly(with_inputs(dataset, values)))

    return _node(run, parts_of(dataset).captured, spec)


def cardinality(dataset: Any) -> Any:
    """The number of elements as a tensor of the graph."""
    folds_in_graphs = _folds_in_graphs()
    found = folds_in_graphs.cardinality(dataset)
    if found is not None:
        return found

    def run(*values: Any) -> list[Any]:
        return [convert_to_tensor(with_inputs(dataset, values)._size, dtypes.int64)]

    return _node(run, parts_of(dataset).captured, _NUMBER)


def _node(run: Callable[..., Any], inputs: Sequence[Any], spec: Any) -> Any:
    op = python_ops.node("PyFunc", run, list(inputs), leaves.outputs(spec), None)
    return leaves.from_tensors(spec, op.outputs)


# By value.


def values_of(dataset: Any) -> Callable[[], Any]:
    """A function that computes what a dataset was made of, where that does not depend on a session.

    Raises ValueError for placeholders and operations with a state.
    """
    if not parts_of(dataset).captured:
        return tuple
    graph = parts_of(dataset).captured[0].op.graph
    needed = order.needed(graph, parts_of(dataset).captured, [], [])
    for op in needed:
        if op.type.startswith("Placeholder") and op.type != "PlaceholderWithDefault":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        if op.stateful or op.attrs.get("resource"):
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )
    emitter = planning.Emitter("one_shot")
    for op in needed:
        emitter.emit(op)
    emitter.program.outputs = [emitter.number(x) for x in parts_of(dataset).captured]
    return planning.compile_program(emitter.program)
