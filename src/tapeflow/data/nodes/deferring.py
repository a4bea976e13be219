"""Datasets made while a graph is built of what is known only when it runs.

Such a dataset is a recipe: tensors of the graph, and how it is made of their values, by the same method that makes
it eagerly. Until then only its spec is known.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundary
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data import element, leaves
from tapeflow.data.arguments import require_callable
from tapeflow.data.dataset_class import dataset_class
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Raising
from tapeflow.data.parts import captured_by
from tapeflow.data.transform import mapping, stacking
from tapeflow.data.transform.folding import first_state, with_state
from tapeflow.data.transform.selecting import GraphSeeds
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.run import order, planning
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.random.seed import get_seed
from tapeflow.ops.state.variable import Variable


def _folds_in_graphs() -> ModuleType:
    from tapeflow.data.nodes import folds_in_graphs  # a circle: it is made of this module

    return folds_in_graphs


_KEY = TensorSpec([], dtypes.int64)


def spread_specs(dataset: Any) -> tuple[list[Any], bool]:
    """The specs of the arguments of a function of an element, and whether there is one for each of its items."""
    return _spread(dataset), type(dataset.element_spec) is tuple


def _spread(dataset: Any) -> list[Any]:
    """The specs of the arguments of a function of an element."""
    spec = dataset.element_spec
    return list(spec) if type(spec) is tuple else [spec]


# The arguments that are functions: (method, argument) -> the specs of what they are called with, and whether an
# element that is a tuple is spread over several.
_FUNCTIONS: dict[tuple[str, str], tuple[Callable[[Any], list[Any]], bool]] = {
    ("map", "map_func"): (_spread, True),
    ("map_with_legacy_function", "map_func"): (_spread, True),
    ("filter", "predicate"): (_spread, True),
    ("filter_with_legacy_function", "predicate"): (_spread, True),
    ("flat_map", "map_func"): (_spread, True),
    ("interleave", "map_func"): (_spread, True),
    ("take_while", "predicate"): (_spread, True),
    ("group_by_window", "key_func"): (_spread, True),
    ("group_by_window", "reduce_func"): (
        lambda dataset: [_KEY, DatasetSpec(dataset.element_spec)], False,
    ),
    ("group_by_window", "window_size_func"): (lambda dataset: [_KEY], False),
}  # fmt: skip
# Methods after which elements are of the same spec.
_SAME = {
    "cache",
    "filter",
    "filter_with_legacy_function",
    "ignore_errors",
    "options",
    "prefetch",
    "repeat",
    "shard",
    "shuffle",
    "skip",
    "take",
    "take_while",
    "unique",
    "with_options",
}
# Values that stand in for tensors while the spec is found out; what differs between the two is not known.
_STAND_INS = ((2, 2**20), (3, 2**20 + 1))


def deferred(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of Dataset that also takes tensors of the graph being built."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        _trace(method.__name__, bound.arguments)
        if context.executing_eagerly() and not _depends_on_graph(bound.arguments):
            made = method(*bound.args, **bound.kwargs)
        else:
            made = make(method, bound.args, bound.kwargs)
        made._made_of = (method.__name__, dict(bound.arguments))
        if any(isinstance(x, Traced) and x.runs_python for x in bound.arguments.values()):
            made._effects = True
        return made

    return boundary(call)


def _depends_on_graph(arguments: dict[str, Any]) -> bool:
    """Whether a dataset or a function among the arguments was made of tensors of a graph."""
    return any(
        (hasattr(x, "from_recipe") and x._captured) or (isinstance(x, Traced) and x.inputs)
        for x in arguments.values()
    )


def _trace(name: str, arguments: dict[str, Any]) -> None:
    dataset: Any = arguments.get("self")
    if name == "shuffle" and not context.executing_eagerly() and not hasattr(arguments.get("seed"), "dtype"):
        arguments["seed"] = GraphSeeds(*get_seed(arguments.get("seed")))
    if name == "scan":
        require_callable(arguments["scan_func"])
        state = first_state(arguments["initial_state"])
        arguments["initial_state"] = state
        arguments["scan_func"] = with_state(arguments["scan_func"], state, dataset.element_spec, name)[0]
        return
    for key, fn in arguments.items():
        specs = _FUNCTIONS.get((name, key))
        if specs is None or isinstance(fn, Traced) or (fn is None and key == "window_size_func"):
            continue
        require_callable(fn)
        spread = specs[1] and type(dataset.element_spec) is tuple
        number = dtypes.int64 if key in ("key_func", "window_size_func") else None
        kind = name.removesuffix("_with_legacy_function")
        arguments[key] = Traced(fn, specs[0](dataset), kind, spread, number)


def make(method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """method(*args, **kwargs): at once, or where tensors of a graph are among the arguments when these are known."""
    args, kwargs = replaced((args, kwargs), known)
    places: list[Any] = []

    def noted(place: Any) -> Any:
        places.append(place)
        return place

    replaced((args, kwargs), noted)
    if not places:
        with context.eager_mode():
            return method(*args, **kwargs)
    inputs = [x for place in places for x in _inputs_of(place)]

    def filled(*values: Any) -> Any:
        given = iter(values)
        args2, kwargs2 = replaced((args, kwargs), lambda x: _filled(x, given))
        with context.eager_mode():
            try:
                return method(*args2, **kwargs2)
            except (ValueError, TypeError) as error:  # it is the values that do not fit: the pass says so
                failed = InvalidArgumentError(None, None, str(error))
                return dataset_class().of(kind, lambda: Raising(failed), spec)

    name = method.__name__
    spec = _spec(name, method, args, kwargs)
    kind = "".join(word.capitalize() for word in name.split("_"))
    return dataset_class().from_recipe(kind, inputs, filled, spec)


def _inputs_of(place: Any) -> list[Any]:
    if isinstance(place, SymbolicTensor):
        return [place]
    return place._captured if hasattr(place, "_inputs") else place.inputs


def _filled(place: Any, given: Any) -> Any:
    if isinstance(place, SymbolicTensor):
        return next(given)
    values = [next(given) for _ in _inputs_of(place)]
    return place.with_inputs(values) if hasattr(place, "_inputs") else place.bound(values)


def known(place: Any) -> Any:
    """The value of a constant in place of its tensor."""
    if not isinstance(place, SymbolicTensor):
        return place
    value = place.constant_value()
    if value is None or place.dtype in (dtypes.variant, dtypes.resource):
        return place
    with context.eager_mode():
        return value if isinstance(value, _native.EagerTensor) else convert_to_tensor(value, place.dtype)


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """`value` with `change` of each tensor, dataset and function in it that depends on the graph."""
    if isinstance(value, Variable):
        value = convert_to_tensor(value)
    if isinstance(value, SymbolicTensor):
        return change(value)
    if hasattr(value, "from_recipe"):
        return change(value) if value._captured else value
    if isinstance(value, Traced):
        return change(value) if value.inputs else value
    if isinstance(value, GraphSeeds):
        return value
    if isinstance(value, Mapping):
        return element.rebuild(value, [replaced(x, change) for x in value.values()])
    if isinstance(value, tuple):
        return element.rebuild(value, [replaced(x, change) for x in value])
    if isinstance(value, list):
        return [replaced(x, change) for x in value]
    if isinstance(value, element.COMPOSITES):
        parts = nest.flatten(value, expand_composites=True)
        if any(isinstance(x, SymbolicTensor) for x in parts):
            return nest.pack_sequence_as(value, [replaced(x, change) for x in parts], expand_composites=True)
    return value


def _spec(name: str, method: Any, args: Any, kwargs: Any) -> Any:
    if name in _SAME:
        return args[0].element_spec
    if name == "scan":
        return next(x for x in (*args, *kwargs.values()) if isinstance(x, Traced)).spec[1]
    if name == "unbatch":
        return element.map_leaves(stacking.slice_spec, args[0].element_spec)
    if name == "from_tensors":
        return element.spec_of(element.to_element(args[0]))
    if name == "from_tensor_slices":
        return _slices_spec(args[0])
    found: Any = None
    for size, number in _STAND_INS:
        with context.eager_mode():
            args2, kwargs2 = replaced((args, kwargs), lambda x: _stand_in(x, size, number))  # noqa: B023 - used at once
            spec = method(*args2, **kwargs2).element_spec
        found = spec if found is None else element.map_leaves(element.merge_specs, found, spec)
    return found


def _slices_spec(tensors: Any) -> Any:
    value = element.to_element(tensors)
    flat = element.flatten(value)
    if not flat:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    size = TensorShape([None])
    for leaf in flat:
        if hasattr(leaf, "from_recipe"):
            continue
        if leaf.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if leaf.shape.rank is not None:
            try:
                size = size.merge_with(leaf.shape[:1])
            except ValueError:
                raise ValueError(f"Dimensions {size[0]} and {leaf.shape[0]} are not compatible") from None
    return element.map_leaves(_slice_spec, value)


def _slice_spec(leaf: Any) -> Any:
    return stacking.slice_spec(element.leaf_spec(leaf))


def _stand_in(place: Any, size: int, number: int) -> Any:
    if isinstance(place, Traced):
        return place
    if not isinstance(place, SymbolicTensor):
        return dataset_class().of(place._kind, not_yet, place.element_spec)
    shape = [size if d is None else d for d in (place.shape.as_list() if place.shape.rank is not None else [])]
    kind = place.dtype.as_numpy_dtype
    if place.dtype == dtypes.string:
        return convert_to_tensor(np.full(shape, b"", object), dtypes.string)
    if place.dtype.is_integer:
        number = min(number, np.iinfo(kind).max)
    return convert_to_tensor(np.full(shape, number).astype(kind), place.dtype)


def not_yet() -> Any:
    """In place of the start of a pass."""
    raise RuntimeError("The elements of a dataset of a graph's tensors are known when the graph runs.")


# Folds.


def fold(dataset: Any, initial_state: Any, fn: Any) -> tuple[Any, Traced]:
    """The first state of a fold, and its traced function."""
    require_callable(fn, "reduce_func")
    state = first_state(initial_state)
    return state, with_state(fn, state, dataset.element_spec, "reduce")[0]


def reduce(dataset: Any, initial_state: Any, fn: Any) -> Any:
    """`Dataset.reduce` as a node."""
    folds_in_graphs = _folds_in_graphs()
    require_callable(fn, "reduce_func")
    state = first_state(initial_state)
    traced, kept = with_state(fn, state, dataset.element_spec, "reduce")
    found = folds_in_graphs.reduced(dataset, state, traced, kept)
    if found is not None:
        return found
    given = leaves.to_tensors(kept, state)
    counts = len(captured_by(dataset)), len(given)

    def run(*values: Any) -> list[Any]:
        source, rest = values[: counts[0]], values[counts[0] :]
        folded = traced.bound(rest[counts[1] :])
        found = leaves.from_tensors(kept, rest[: counts[1]])
        return leaves.to_tensors(kept, mapping.reduced(dataset.with_inputs(source), found, folded))

    return _node(run, [*captured_by(dataset), *given, *traced.inputs], kept)


def single_element(dataset: Any, eagerly: Callable[[Any], Any]) -> Any:
    """`Dataset.get_single_element` as a node."""
    folds_in_graphs = _folds_in_graphs()
    spec = dataset.element_spec
    found = folds_in_graphs.single_element(dataset)
    if found is not None:
        return found

    def run(*values: Any) -> list[Any]:
        return leaves.to_tensors(spec, eagerly(dataset.with_inputs(values)))

    return _node(run, captured_by(dataset), spec)


def cardinality(dataset: Any) -> Any:
    """The number of elements as a tensor of the graph."""
    folds_in_graphs = _folds_in_graphs()
    found = folds_in_graphs.cardinality(dataset)
    if found is not None:
        return found

    def run(*values: Any) -> list[Any]:
        return [convert_to_tensor(dataset.with_inputs(values)._size, dtypes.int64)]

    return _node(run, captured_by(dataset), _KEY)


def _node(run: Callable[..., Any], inputs: Sequence[Any], spec: Any) -> Any:
    op = python_ops.node("PyFunc", run, list(inputs), leaves.outputs(spec), None)
    return leaves.from_tensors(spec, op.outputs)


# By value.


def values_of(dataset: Any) -> Callable[[], Any]:
    """A function that computes what a dataset was made of, where that does not depend on a session.

    Raises ValueError for placeholders and operations with a state.
    """
    if not captured_by(dataset):
        return tuple
    graph = captured_by(dataset)[0].op.graph
    needed = order.needed(graph, captured_by(dataset), [], [])
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
    emitter.program.outputs = [emitter.number(x) for x in captured_by(dataset)]
    return planning.compile_program(emitter.program)

