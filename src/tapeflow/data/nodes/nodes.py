"""Nodes of TensorFlow's datasets, iterators and optionals, and how they run."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data import leaves
from tapeflow.data.building import build
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.graph_iterating import _Pass, pass_named
from tapeflow.data.iteration.passes import Over, begun
from tapeflow.data.nodes import old_kernels as dataset_old_kernels  # noqa: F401 (registers more of them)
from tapeflow.data.nodes.kernels import KERNELS, dataset_of, packed, reduced, unpacked
from tapeflow.data.parts import size_of, start_of
from tapeflow.data.transform.tracing import Traced
from tapeflow.function.compiled import Compiled
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
from tapeflow.ops.state.resource_op import expect, handle_of, object_of

_OTHERS = "other_arguments"
_FUNCTIONS = ("f", "predicate")
_FOLDS = ("ScanDataset", "ReduceDataset")  # whose functions take a state and an element
_OF_DATASETS = frozenset({"FlatMapDataset"}) | {k for k in KERNELS if "Interleave" in k}


def spec_of(attrs: Any) -> Any:
    """The spec of the elements that the attrs of a node tell of."""
    types = attrs.get("output_types", attrs.get("Toutput_types", ()))
    shapes = attrs["output_shapes"]
    return packed(TensorSpec(shape, dtype) for shape, dtype in zip(shapes, types, strict=True))


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


def _traced(kind: str, body: Body, others: int, attrs: Any) -> Traced:
    """The function of a node, of an element's tensors and `others`."""
    specs = [TensorSpec(x.shape, x.dtype) for x in body.graph.inputs]
    inner = DatasetSpec(spec_of(attrs)) if kind in _OF_DATASETS else None

    def function(*arguments: Any) -> Any:
        found = inline(body.graph, body.outputs, arguments)
        return packed(found) if inner is None else leaves.from_tensors(inner, found)

    return Traced(function, specs, _method(kind), len(specs) - others != 1)


def _method(kind: str) -> str:
    """What errors call an op: the method of a dataset that does the same."""
    words = re.findall("[A-Z][a-z]+", kind.partition("Dataset")[0].removeprefix("Parallel"))
    return "_".join(words).lower()


# Datasets.


def _grouped(definition: Any, attrs: Any, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The inputs of a node, one for each argument of its op, and the captured arguments of its function."""
    at, given, others = 0, [], []
    for argument in definition.input_arg:
        count = len(op_defs.dtypes_of(argument, attrs))
        part = list(values[at : at + count])
        at += count
        if argument.type == dtypes.variant.as_datatype_enum:
            part = [dataset_of(x) for x in part]
        if argument.name == _OTHERS:
            others = part
        else:
            given.append(part if argument.type_list_attr or argument.number_attr else part[0])
    return given, others


def _first_other(kind: str, attrs: Any) -> int:
    """Where among the inputs of a node those begin that its function captured."""
    first = 0
    for argument in op_defs.op_def(kind).input_arg:
        if argument.name == _OTHERS:
            break
        first += len(op_defs.dtypes_of(argument, attrs))
    return first


def _function_of(kind: str, attrs: Any) -> Any:
    """What takes the captured arguments of a node's function and gives the function; None if it has none."""
    body = next((attrs[k] for k in _FUNCTIONS if k in attrs), None)
    if body is None:
        return None
    others = len(attrs["Targuments"])
    states = len(attrs["Tstate"]) if kind in _FOLDS else None
    make = functools.cache(lambda: _traced(kind, body, others, attrs))
    return lambda given: Applied(make(), given, states)


def _dataset(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    definition, make = op_defs.op_def(kind), KERNELS[kind]
    function = _function_of(kind, attrs)
    limits = graph.limits

    def run(*values: Any) -> list[Any]:
        given, others = _grouped(definition, attrs, values)
        fn = None if function is None else function(others)
        made = make(attrs, fn, *given)
        if limits is not None:
            made = _limited(made, limits)
        made._effects |= fn is not None and fn.runs_python
        made.__dict__.setdefault("_of_node", (kind, attrs, values))
        return [leaves.boxed(made)]

    return _node(graph, kind, run, inputs, [(dtypes.variant, ())], name, attrs, False)


class _Limited(Over):
    """A pass of which each element is made under limits, and counts as a step."""

    __slots__ = ("_limits", "_next")

    def __init__(self, values: Any, limits: Any):
        super().__init__(values)
        self._limits, self._next = limits, values.__next__

    def __next__(self) -> Any:
        return _native.call_limited(self._limits.steps, self._limits.memory, self._next)


def _limited(dataset: Any, limits: Any) -> Any:
    spec, size = dataset.element_spec, size_of(dataset)
    made = build(("Map", lambda: _Limited(start_of(dataset)(), limits), spec, size), dataset)
    made._effects |= dataset._effects
    return made


def _node(
    graph: Any, kind: str, run: Any, inputs: Any, outputs: Any, name: str, attrs: Any, stateful: bool = True
) -> Operation:
    known = {**attrs, "function": run, "stateful": stateful}
    op = graph.add(kind, None, tuple(inputs), (None,) * len(inputs), known, name)
    for dtype, shape in outputs:
        op.add_output(dtype, shape)
    return op


def _reduce(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    definition = op_defs.op_def(kind)
    function = _function_of(kind, attrs)

    def run(*values: Any) -> list[Any]:
        (dataset, state), others = _grouped(definition, attrs, values)
        return reduced(function(others), dataset, state)

    return _node(graph, kind, run, inputs, leaves.outputs(spec_of(attrs)), name, attrs)


def _single(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(dataset: Any) -> list[Any]:
        return unpacked(dataset_of(dataset).get_single_element())

    return _node(graph, kind, run, inputs, leaves.outputs(spec_of(attrs)), name, attrs)


def _cardinality(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(dataset: Any) -> list[Any]:
        return [dataset_of(dataset).cardinality()]

    return _node(graph, kind, run, inputs, [(dtypes.int64, ())], name, attrs, False)


# Iterators.


def _anonymous(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    outputs = [(dtypes.resource, ())]
    deleter = [(dtypes.variant, ())] * (len(op_defs.op_def(kind).output_arg) - 1)

    def run(*seeds: Any) -> list[Any]:  # shuffles read the seeds themselves
        made = handle_of(_Pass(None, spec_of(attrs)) if "output_types" in attrs else None)
        return [made, *(leaves.boxed(None) for _ in deleter)]

    return _node(graph, kind, run, inputs, outputs + deleter, name, attrs)


def _named(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """An iterator that a session, or the function that it is in, keeps."""
    start = None
    if "dataset_factory" in attrs:
        body = attrs["dataset_factory"]
        compiled = Compiled(body.graph, body.outputs)

        def start() -> Any:
            return dataset_of(compiled.plan()[0])._start()

    op = _node(graph, kind, None, inputs, [(dtypes.resource, ())], name, attrs)
    op.attrs["resource"] = lambda: handle_of(_Pass(start, spec_of(attrs)))
    return op


def _emit_named(emitter: Any, op: Operation) -> None:
    value = emitter.resolve(op) if emitter.resolve is not None else None
    if value is None:
        value = op.attrs.get("kept")
        if value is None:
            value = op.attrs["kept"] = op.attrs["resource"]()
    emitter.constant(op.outputs[0], value)


def _pass_of(handle: Any) -> _Pass:
    return expect(object_of(handle), _Pass, "iterator")


def _begin(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(dataset: Any, handle: Any) -> list[Any]:
        state, made = _pass_of(handle), leaves.unboxed(dataset)
        with state.lock:
            state.made = made._start
            state.elements = begun(made._start)
        return []

    return _node(graph, kind, run, inputs, (), name, attrs)


def _next(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(handle: Any) -> list[Any]:
        try:
            return unpacked(_pass_of(handle).next())
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    return _node(graph, kind, run, inputs, leaves.outputs(spec_of(attrs)), name, attrs)


def _next_if_any(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(handle: Any) -> list[Any]:
        try:
            return [leaves.boxed(unpacked(_pass_of(handle).next()))]
        except StopIteration:
            return [leaves.boxed(None)]

    return _node(graph, kind, run, inputs, [(dtypes.variant, ())], name, attrs)


def _to_string(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(handle: Any) -> list[Any]:
        return [convert_to_tensor(_pass_of(handle).name)]

    return _node(graph, kind, run, inputs, [(dtypes.string, ())], name, attrs)


def _from_string(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(handle: Any) -> list[Any]:
        return [handle_of(pass_named(handle))]

    return _node(graph, kind, run, inputs, [(dtypes.resource, ())], name, attrs)


def _nothing(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """What is freed when nothing holds it."""
    return _node(graph, kind, lambda *_: [], inputs, (), name, attrs)


# Optionals: a list of tensors in a box, or None.


def _some(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(*values: Any) -> list[Any]:
        return [leaves.boxed(list(values))]

    return _node(graph, kind, run, inputs, [(dtypes.variant, ())], name, attrs, False)


def _none(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run() -> list[Any]:
        return [leaves.boxed(None)]

    return _node(graph, kind, run, inputs, [(dtypes.variant, ())], name, attrs, False)


def _has_value(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    with context.init_scope(), context.eager_mode():
        no, yes = [convert_to_tensor(False)], [convert_to_tensor(True)]

    def run(optional: Any) -> list[Any]:
        return no if leaves.unboxed(optional) is None else yes

    return _node(graph, kind, run, inputs, [(dtypes.bool, ())], name, attrs, False)


def _value(graph: Any, kind: str, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(optional: Any) -> list[Any]:
        found = leaves.unboxed(optional)
        if found is None:
            raise InvalidArgumentError(None, None, "The given optional does not have a value.")
        return found

    return _node(graph, kind, run, inputs, leaves.outputs(spec_of(attrs)), name, attrs, False)


_MAKERS: dict[str, Any] = {
    **dict.fromkeys(KERNELS, _dataset),
    "ReduceDataset": _reduce,
    "DatasetToSingleElement": _single,
    "DatasetCardinality": _cardinality,
    **dict.fromkeys(
        ("AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3", "AnonymousSeedGenerator",
         "AnonymousMemoryCache", "DummySeedGenerator", "DummyMemoryCache"), _anonymous,
    ),
    **dict.fromkeys(("Iterator", "IteratorV2", "OneShotIterator"), _named),
    "MakeIterator": _begin,
    "IteratorToStringHandle": _to_string,
    "IteratorFromStringHandleV2": _from_string,
    **dict.fromkeys(("IteratorGetNext", "IteratorGetNextSync"), _next),
    "IteratorGetNextAsOptional": _next_if_any,
    **dict.fromkeys(("DeleteIterator", "DeleteSeedGenerator", "DeleteMemoryCache"), _nothing),
    "OptionalFromValue": _some,
    "OptionalNone": _none,
    "OptionalHasValue": _has_value,
    "OptionalGetValue": _value,
}  # fmt: skip


def add(kind: str, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None = None) -> Operation:
    """A node of the graph being built. Attrs that are functions are bodies; what is not given has its default."""
    graph = context.current_graph() or building.graph_of(inputs)
    given = [building.as_symbolic(graph, x) for x in inputs]
    known = {
        a.name: attributes.value_of(a.default_value, a.type, a.name)
        for a in op_defs.op_def(kind).attr
        if a.HasField("default_value")
    }
    return _MAKERS[kind](graph, kind, given, name or kind, {**known, **attrs})


def _imported(maker: Any, node: Any, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    """A node out of a GraphDef."""
    for key in (*_FUNCTIONS, "dataset_factory"):
        if key not in attrs:
            continue
        function = attrs[key].name
        others = len(attrs.get("Targuments", ()))
        first = _first_other(node.op, attrs) if others else 0
        count = maker.functions.arity(function) - others
        unknown = [TensorSpec(None, dtypes.float32)] * max(count, 0)
        body = maker.functions.body(function, name, [*unknown, *inputs[first : first + others]])
        attrs[key] = Body(body.graph, list(body.outputs))
    return _MAKERS[node.op](maker.graph, node.op, inputs, name + "/", attrs)


def _emit_bare(emitter: Any, op: Operation) -> None:
    """The instruction of a node that computes nothing, and so needs no eager mode around it."""
    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    emitter.program.instructions.append(
        Instruction("python", op.attrs["function"], inputs, outputs, op, False)
    )


def _emitter_of(kind: str) -> Any:
    if _MAKERS[kind] is _named:
        return _emit_named
    return _emit_bare if kind.startswith("Optional") else python_ops.emit


def register(makers: dict[str, Any]) -> None:
    """Says how nodes of some ops are made."""
    _MAKERS.update(makers)
    for kind in makers:
        SPECIAL[kind] = _imported
        planning.emits(kind)(_emitter_of(kind))
        if kind not in KERNELS:
            gradients.gradient_of(kind)(lambda op, *dys: [None] * len(op.inputs))


register(dict(_MAKERS))
