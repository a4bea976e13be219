"""Nodes that run Python: `py_function`, `numpy_function`, prints and assertions in a graph."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import providers
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.structures import nest
from tapeflow.graph.build import building, gradients
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.ops.control import assert_op, py_functions
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.validate import shape_text


def node(
    kind: str,
    function: Callable[..., Sequence[Any]],
    inputs: Sequence[Any],
    outputs: Sequence[tuple[Any, Any]],
    name: str | None,
    stateful: bool = True,
    **attrs: Any,
) -> Operation:
    """A node that calls `function(*eager tensors)`, which returns a sequence of eager tensors.

    Args:
      outputs: (dtype, shape) of each.
    """
    graph = context.current_graph() or building.graph_of(inputs)
    flat = tuple(building.as_symbolic(graph, x) for x in inputs)
    op = graph.add(
        kind,
        None,
        flat,
        (None,) * len(flat),
        {"function": function, "stateful": stateful, **attrs},
        name or kind,
    )
    for dtype, shape in outputs:
        op.add_output(dtype, shape)
    return op


class _Reading(threading.local):
    own_graphs = False


_reading = _Reading()
# The operations of this process that GraphDefs name by tokens.
_by_token: weakref.WeakValueDictionary[str, Operation] = weakref.WeakValueDictionary()


def note_tokens(operations: Iterable[Operation]) -> None:
    """Remember the operations whose functions GraphDefs of this process name by tokens."""
    for op in operations:
        token = op.attrs.get("token") if "function" in op.attrs else None
        if token is not None:
            _by_token[token] = op


@contextlib.contextmanager
def reading_own() -> Iterator[None]:
    """A block in which the GraphDefs that are read in this thread were written by this process."""
    before, _reading.own_graphs = _reading.own_graphs, True
    try:
        yield
    finally:
        _reading.own_graphs = before


def again(kind: str, token: str, inputs: Sequence[Any], name: str) -> Operation | None:
    """A node that calls the function of another one of this process; None where the GraphDef may not name it."""
    op = _by_token.get(token) if _reading.own_graphs else None
    if op is None:
        return None
    outputs = [(y.dtype, y.shape_tuple) for y in op.outputs]
    return node(kind, op.attrs["function"], inputs, outputs, name, op.attrs["stateful"])


def emit(emitter: Any, op: Operation) -> None:
    function = op.attrs["function"]

    def run(*values: Any) -> Any:
        if context.runs_at_once():  # saves most of the time that this takes
            with _native.PausedTapes():
                return function(*values)
        with context.eager_mode(), context.pause_recording():
            return function(*values)

    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    emitter.program.instructions.append(
        Instruction("python", run, inputs, outputs, op, op.attrs["stateful"])
    )


for _kind in (
    "EagerPyFunc",
    "PyFunc",
    "PyFuncStateless",
    "Assert",
    "EagerPyFuncGrad",
):
    planning.emits(_kind)(emit)


def effect(
    kind: str, function: Callable[..., Any], values: Any, name: str | None = None
) -> Operation:
    """A node that calls `function(values)`, a structure, with its tensors replaced by what they are then."""
    leaves = nest.flatten(values, expand_composites=True)
    places = [i for i, x in enumerate(leaves) if isinstance(x, (_native.Tensor, _native.Variable))]

    def run(*given: Any) -> list[Any]:
        filled = list(leaves)
        for i, x in zip(places, given, strict=True):
            filled[i] = x
        function(nest.pack_sequence_as(values, filled, expand_composites=True))
        return []

    return node(kind, run, [leaves[i] for i in places], (), name)


def assertion(condition: Any, data: Any, summarize: int | None, name: str | None) -> Operation:
    """A node that raises InvalidArgumentError, which shows `data`, unless the scalar `condition` holds."""
    limit = 3 if summarize is None else summarize

    def run(holds: Any, *shown: Any) -> list[Any]:
        if holds.shape.num_elements() != 1:
            raise InvalidArgumentError(
                None, None, f"In[0] should be a scalar: {shape_text(holds.shape.as_list())}"
            )
        if not holds:
            raise assert_op.failed_in_graph(shown, limit)
        return []

    inputs = [_truth(condition), *map(convert_to_tensor, data)]
    return node("Assert", run, inputs, (), name, summarize=limit)


def _truth(condition: Any) -> Any:
    tensor = convert_to_tensor(condition)
    return tensor if tensor.dtype == dtypes.bool else Cast(tensor, dtypes.bool)


# Functions with tensors in and out.


def _kinds(Tout: Any) -> tuple[list[Any], bool]:
    """The dtypes promised, and whether a list was asked for."""
    if Tout is None:
        return [], True
    if isinstance(Tout, (list, tuple)):
        return [dtypes.as_dtype(t) for t in Tout], True
    return [dtypes.as_dtype(Tout)], False


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None) -> Any:
    """`func` runs eagerly when the graph does, under a tape, so that it can be differentiated."""
    kinds, listed = _kinds(Tout)

    def run(*values: Any) -> list[Any]:
        given = list(values)
        with providers.load("tape").GradientTape(persistent=True) as tape:
            for v in given:
                if gradients.differentiable(v.dtype) and v.dtype not in (
                    dtypes.variant,
                    dtypes.resource,
                ):
                    tape.watch(v)
            found = py_functions.typed(func(*given), kinds)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        return [*found, _boxed((tape, given, found))]

    op = node(
        "EagerPyFunc",
        run,
        list(inp or ()),
        [*[(k, None) for k in kinds], (dtypes.variant, ())],
        name,
    )
    if not kinds:
        return op
    return list(op.outputs[:-1]) if listed else op.outputs[0]


def _boxed(value: Any) -> Any:
    box = np.empty((), object)
    box[()] = value
    return _native.tensor_of(box, dtypes.variant)


@gradients.gradient_of("EagerPyFunc")
def _gradient(op: Operation, *dys: Any) -> list[Any]:
    """Asks the tape that the function ran under."""
    wanted = [
        i
        for i, x in enumerate(op.inputs)
        if gradients.differentiable(x.dtype) and x.dtype != dtypes.resource
    ]
    given = [i for i, dy in enumerate(dys[:-1]) if dy is not None]

    def run(token: Any, *upstream: Any) -> list[Any]:
        tape, inputs, outputs = (
            token.numpy().item() if hasattr(token.numpy(), "item") else token.numpy()
        )
        found = tape.gradient(
            [outputs[i] for i in given],
            [inputs[i] for i in wanted],
            output_gradients=list(upstream),
        )
        zeros = [
            np.zeros(inputs[i].shape.as_list(), inputs[i].dtype.as_numpy_dtype) for i in wanted
        ]
        return [convert_to_tensor(z if g is None else g) for g, z in zip(found, zeros, strict=True)]

    kinds = [(op.inputs[i].dtype, op.inputs[i].shape_tuple) for i in wanted]
    inputs = [op.outputs[-1], *[dys[i] for i in given]]
    back = node("EagerPyFuncGrad", run, inputs, kinds, f"{op.name.rpartition('/')[2]}_grad")
    result: list[Any] = [None] * len(op.inputs)
    for i, y in zip(wanted, back.outputs, strict=True):
        result[i] = y
    return result


def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool, name: str | None
) -> Any:
    """`func` runs on arrays when the graph does."""
    kinds, listed = _kinds(Tout)

    def run(*values: Any) -> list[Any]:
        result = func(*(v.numpy() for v in values))
        if not kinds:
            return []
        found = list(result) if listed and isinstance(result, (list, tuple)) else [result]
        if len(found) != len(kinds):
            raise ValueError(
                f"{func} returns {len(found)} values, but expects to see {len(kinds)} values."
            )
        return [_as_promised(y, kind, func) for y, kind in zip(found, kinds, strict=True)]

    kind = "PyFunc" if stateful else "PyFuncStateless"
    op = node(kind, run, list(inp or ()), [(k, None) for k in kinds], name, stateful)
    if not kinds:
        return op
    return list(op.outputs) if listed else op.outputs[0]


def _as_promised(value: Any, kind: Any, func: Callable[..., Any]) -> Any:
    if isinstance(value, _native.Tensor):
        tensor = value
    else:
        array = np.asarray(value)
        # Python numbers take the dtype promised; arrays must have it.
        if not isinstance(value, (np.ndarray, np.generic)) and kind != dtypes.string:
            array = np.asarray(value, kind.as_numpy_dtype)
        tensor = convert_to_tensor(array)
    if tensor.dtype != kind:
        raise InvalidArgumentError(
            None,
            None,
            f"0-th value returned by {func} is {tensor.dtype.name}, but expects {kind.name}",
        )
    return tensor
