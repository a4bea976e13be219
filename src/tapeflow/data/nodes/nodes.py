"""Nodes of TensorFlow's datasets, iterators and optionals: how their rows' kernels run in a graph.

The kernel of a dataset's row takes (attrs, function, *inputs) and returns a dataset: the inputs are datasets, tensors,
or lists of them, and the function has its captured arguments. Those of other rows take (attrs, *tensors), and return
the tensors that are the outputs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import leaves
from tapeflow.data.building import build
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.passes import Over
from tapeflow.data.nodes.variants import dataset_of, flat, packed, unpacked
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.record import CAPTURED
from tapeflow.data.transform.tracing import Traced
from tapeflow.graph.build import building, gradients
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.interchange import attributes
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.ops import node_rows
from tapeflow.ops.node_rows import NODES, NodeRow
from tapeflow.ops.signature import func

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_Maker = Callable[[Any, NodeRow, Any, str, dict[str, Any]], Operation]


def spec_of(attrs: Mapping[str, Any]) -> Any:
    """The spec of the elements that the attrs of a node tell of."""
    types = attrs.get("output_types", attrs.get("Toutput_types", ()))
    shapes = attrs["output_shapes"]
    return packed(TensorSpec(shape, dtype) for shape, dtype in zip(shapes, types, strict=True))


def _functions(row: NodeRow) -> list[str]:
    """The attrs of a node that are functions."""
    return [key for key, kind in row.attrs.items() if kind == func]


# Functions of nodes.


class Applied:
    """A function for datasets that is given some of its last arguments.

    Args:
      folds: how many tensors the state of a fold is; None for a function of an element.
    """

    inputs = ()

    def __init__(self, traced: Traced, others: Sequence[Any], folds: int | None = None):
        self._traced, self._others, self._folds = traced, tuple(others), folds
        self.spread, self.transformation = traced.spread, traced.transformation
        self.spec = traced.spec
        if folds is not None:
            self.spread = False
            self.spec = self._split(_items(traced.spec))

    @property
    def is_stateful(self) -> bool:
        return self._traced.is_stateful

    @property
    def runs_python(self) -> bool:
        return self._traced.runs_python

    def _split(self, items: Sequence[Any]) -> Any:
        """What a fold returns: the state, and of a scan the element beside it."""
        if self.transformation == "reduce":
            return packed(items)
        return packed(items[: self._folds]), packed(items[self._folds :])

    def begun(self) -> Callable[..., Any]:
        call, others = self._traced.begun(), self._others
        if self._folds is None:
            return lambda *arguments: call(*arguments, *others)
        return lambda state, value: self._split(
            _items(call(*_items(state), *unpacked(value), *others))
        )

    def __call__(self, *arguments: Any) -> Any:
        return self.begun()(*arguments)


def _items(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def _traced(row: NodeRow, body: Body, others: int, attrs: Mapping[str, Any]) -> Traced:
    """The function of a node, of an element's tensors and `others`."""
    specs = [TensorSpec(x.shape, x.dtype) for x in body.graph.inputs]
    inner = DatasetSpec(spec_of(attrs)) if row.flattens else None

    def function(*arguments: Any) -> Any:
        found = inline(body.graph, body.outputs, arguments)
        return packed(found) if inner is None else leaves.from_tensors(inner, found)

    return Traced(function, specs, _method(row.name), len(specs) - others != 1)


def _method(kind: str) -> str:
    """What errors call an op: the method of a dataset that does the same."""
    words = re.findall("[A-Z][a-z]+", kind.partition("Dataset")[0].removeprefix("Parallel"))
    return "_".join(words).lower()


# Datasets.


def _grouped(row: NodeRow, attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The inputs of a node, one for each argument of its op, and the captured arguments of its function."""
    given, others = [], []
    for argument, part in zip(row.inputs, row.grouped(attrs, values), strict=True):
        if argument.name == CAPTURED:
            others = part
            continue
        if argument.type == "variant":
            part = [dataset_of(x) for x in part]
        given.append(part if argument.is_list else part[0])
    return given, others


def _first_other(row: NodeRow, attrs: Mapping[str, Any]) -> int:
    """Where among the inputs of a node those begin that its function captured."""
    counts = row.schema.counts(attrs)
    return sum(counts[: [a.name for a in row.inputs].index(CAPTURED)])


def _function_of(row: NodeRow, attrs: Mapping[str, Any]) -> Any:
    """What takes the captured arguments of a node's function and gives the function; None if it has none."""
    body = next((attrs[key] for key in _functions(row)), None)
    if body is None:
        return None
    others = len(attrs["Targuments"])
    states = len(attrs["Tstate"]) if "Tstate" in row.attrs else None  # of a fold: it takes a state and an element
    make = functools.cache(lambda: _traced(row, body, others, attrs))
    return lambda given: Applied(make(), given, states)


def _dataset(graph: Graph, row: NodeRow, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    function, kernel, limits = _function_of(row, attrs), row.kernel, graph.limits
    assert kernel is not None

    def run(*values: Any) -> list[Any]:
        given, others = _grouped(row, attrs, values)
        fn = None if function is None else function(others)
        made = flat(kernel(attrs, fn, *given))
        if limits is not None:
            made = _limited(made, limits)
        if fn is not None and fn.runs_python:
            parts_of(made).has_effects = True
        if parts_of(made).node is None:
            parts_of(made).node = (row.name, attrs, values)
        return [leaves.boxed(made)]

    return node(graph, row, run, inputs, name, attrs, False)


class _Limited(Over):
    """A pass of which each element is made under limits, and counts as a step."""

    __slots__ = ("_limits", "_next")

    def __init__(self, values: Any, limits: Any):
        super().__init__(values)
        self._limits, self._next = limits, values.__next__

    def __next__(self) -> Any:
        return _native.call_limited(self._limits.steps, self._limits.memory, self._next)


def _limited(dataset: Any, limits: Any) -> Any:
    spec, size = dataset.element_spec, parts_of(dataset).size
    made = build(("Map", lambda: _Limited(parts_of(dataset).start(), limits), spec, size), dataset)
    if parts_of(dataset).has_effects:
        parts_of(made).has_effects = True
    return made


def node(
    graph: Graph, row: NodeRow, run: Any, inputs: Any, name: str, attrs: Mapping[str, Any], stateful: bool | None = None
) -> Operation:
    """The operation of a row that `run` computes. The outputs are what its attrs say, and scalars otherwise."""
    known = {**attrs, "function": run, "stateful": row.stateful if stateful is None else stateful}
    op = graph.add(row.name, None, tuple(inputs), (None,) * len(inputs), known, name)
    for argument in row.outputs:
        if argument.is_list:
            outputs = leaves.outputs(spec_of(attrs))
        else:
            outputs = [(dtypes.as_dtype(argument.type), ())]
        for dtype, shape in outputs:
            op.add_output(dtype, shape)
    return op


def _computed(graph: Graph, row: NodeRow, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """The operation of a row that is no dataset."""
    assert row.kernel is not None
    return node(graph, row, functools.partial(row.kernel, attrs), inputs, name, attrs)


def fold_of(row: NodeRow, attrs: Mapping[str, Any]) -> Callable[[Sequence[Any]], tuple[Any, Any, Any]]:
    """What gives the function, the dataset and the first state of a fold, of the inputs of its node."""
    function = _function_of(row, attrs)

    def parts(values: Sequence[Any]) -> tuple[Any, Any, Any]:
        (dataset, state), others = _grouped(row, attrs, values)
        return function(others), dataset, state

    return parts


_MAKERS: dict[str, _Maker] = {}


def add(kind: str, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None = None) -> Operation:
    """A node of the graph being built. Attrs that are functions are bodies; what is not given has its default."""
    node_rows.load_all()
    graph = context.current_graph() or building.graph_of(inputs)
    given = [building.as_symbolic(graph, x) for x in inputs]
    known = {
        a.name: attributes.value_of(a.default_value, a.type, a.name)
        for a in op_defs.op_def(kind).attr
        if a.HasField("default_value")
    }
    return _MAKERS[kind](graph, NODES[kind], given, name or kind, {**known, **attrs})


def _imported(maker: Any, node: Any, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """A node out of a GraphDef."""
    row = NODES[node.op]
    for key in _functions(row):
        function = attrs[key].name
        others = len(attrs.get("Targuments", ()))
        first = _first_other(row, attrs) if others else 0
        count = maker.functions.arity(function) - others
        unknown = [TensorSpec(None, dtypes.float32)] * max(count, 0)
        body = maker.functions.body(function, name, [*unknown, *inputs[first : first + others]])
        attrs[key] = Body(body.graph, list(body.outputs))
    return _MAKERS[row.name](maker.graph, row, inputs, name + "/", attrs)


def _emit_bare(emitter: Any, op: Operation) -> None:
    """The instruction of a node that computes nothing, and so needs no eager mode around it."""
    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    emitter.program.instructions.append(
        Instruction("python", op.attrs["function"], inputs, outputs, op, False)
    )


def register(row: NodeRow, make: _Maker, emit: Any = python_ops.emit) -> None:
    """Say how the nodes of a row are made, and run."""
    _MAKERS[row.name] = make
    SPECIAL[row.name] = _imported
    planning.emits(row.name)(emit)
    if make is not _dataset:
        gradients.gradient_of(row.name)(lambda op, *dys: [None] * len(op.inputs))


def register_kernels(begins_bare: str) -> None:
    """Register the rows that have kernels. Nodes whose names begin so compute nothing, and need no mode around them."""
    for row in list(NODES.values()):
        if node_rows.has_kernel(row.name) and row.name not in _MAKERS:
            emit = _emit_bare if row.name.startswith(begins_bare) else python_ops.emit
            register(row, _dataset if row.makes_dataset else _computed, emit)
