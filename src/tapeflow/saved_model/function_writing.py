"""Functions as `FunctionDef`s of a library, and how Python calls them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.structures.structure import fields_of
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.interchange import attributes, graph_def
from tapeflow.graph.op_defs.defaults import strip_defaults
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.saved_model import gradient_writing, structures
from tapeflow.saved_model.gradient_writing import TYPE_ATTR, CapturedTensor, TracedGradient


class FullArgSpec(NamedTuple):
    """What `inspect.getfullargspec` tells of a function."""

    args: Any
    varargs: Any
    varkw: Any
    defaults: Any
    kwonlyargs: Any
    kwonlydefaults: Any
    annotations: Any


class WrittenGradient(NamedTuple):
    """A gradient function of a library.

    Attributes:
      type: what nodes name it by.
      name: of the function.
      traced: what it was written from.
      captured: for each of its captures a `CapturedTensor`, or an eager tensor.
    """

    type: str
    name: str
    traced: TracedGradient
    captured: list[Any]


class FunctionWriter:
    """A library of functions.

    Args:
      namespaces: those of ops, besides TensorFlow's own, that may be saved.
      custom_gradients: whether gradients that programs defined are written too.

    Attributes:
      library: the `FunctionDef`s by name.
      gradients: the gradient functions among them.
    """

    def __init__(self, namespaces: Iterable[str] = (), custom_gradients: bool = False):
        self.library: dict[str, Any] = {}
        self.gradients: list[WrittenGradient] = []
        self._custom_gradients = custom_gradients
        self._namespaces = set(namespaces)
        self._names: dict[Any, str] = {}
        self._bodies: list[Any] = []  # kept, so that no id is used twice
        self._count = 0

    def add(self, concrete: Any) -> str:
        """Writes a concrete function; returns the name it got."""
        self._count += 1
        plain = re.sub(r"[^A-Za-z0-9_.]", "_", getattr(concrete, "function_name", "") or "function")
        plain = plain.removeprefix("__inference_")
        return self._name_of(
            Body(concrete.graph, concrete.graph.outputs), f"__inference_{plain}_{self._count}"
        )

    def _name_of(self, body: Any, name: str | None = None) -> str:
        key = (id(body.graph), tuple(map(id, body.outputs)))
        if name is None and key in self._names:
            return self._names[key]
        name = self._free(graph_def.function_name(body) if name is None else name)
        self._names.setdefault(key, name)
        self._bodies.append(body)
        self.library[name] = None
        self.library[name] = self._written(body, name)
        return name

    def _free(self, name: str) -> str:
        base, count = name, 0
        while name in self.library:
            count += 1
            name = f"{base}_{count}"
        return name

    def _written(self, body: Any, name: str) -> Any:
        graph = body.graph
        if graph.unsaveable:
            raise ValueError(graph.unsaveable)
        traced = gradient_writing.traced(graph, body.outputs) if self._custom_gradients else {}
        gradients = {op: each for op, each in traced.items() if each.complete}
        kept = [x for each in gradients.values() for x in each.kept]
        made = graph_def.function_def(body, name, self._name_of, kept)
        ops = [op for op in graph.operations if op.effects]
        ordered = needed(graph, [*body.outputs, *kept], ops, graph.inputs)
        nodes = {node.name: node for node in made.node_def}
        put_in_order(nodes, ordered)
        arguments = {id(x): a.name for x, a in zip(graph.inputs, made.signature.input_arg, strict=True)}
        for op in ordered:
            if op.custom_gradient is None or op.name not in nodes:
                continue
            # Who asks later for one that does not go along gets an error, not another gradient.
            kind = "CustomGradient-not-saved"
            if op in gradients:
                kind = self._add_gradient(gradients[op], name, arguments)
                gradient_writing.read_variables(op, nodes[op.name], made.node_def)
            nodes[op.name].attr[TYPE_ATTR].s = kind.encode()
        self.finish(made.node_def)
        for argument, x in zip(made.signature.input_arg, graph.inputs, strict=True):
            if getattr(x, "handle_dtype", None) is not None:
                shape = attributes.of(TensorShape(x.handle_shape), "shape").shape
                argument.handle_data.add(dtype=x.handle_dtype.as_datatype_enum, shape=shape)
        return made

    def _add_gradient(self, traced: TracedGradient, function: str, arguments: dict[int, str]) -> str:
        """Writes the gradient function of a node of a function; returns what the node names it by."""
        self._count += 1
        name = self._free(f"__inference_internal_grad_fn_{self._count}")
        kind = f"CustomGradient-{self._count}"
        captured = [
            CapturedTensor(gradient_writing.tensor_name(x, arguments), function) if isinstance(x, SymbolicTensor) else x
            for x in traced.captured
        ]
        # One that calls itself, as for second derivatives, would have no end.
        before, self._custom_gradients = self._custom_gradients, False
        self._name_of(Body(traced.graph, traced.graph.outputs), name)
        self._custom_gradients = before
        self.gradients.append(WrittenGradient(kind, name, traced, captured))
        return kind

    def finish(self, nodes: Iterable[Any]) -> None:
        """Leaves out attrs that have their defaults. Raises ValueError for ops of namespaces that may not be saved."""
        for node in nodes:
            namespace, mark, _ = node.op.rpartition(">")
            if mark and namespace.split(">")[0] not in self._namespaces:
                raise ValueError(
                    "Attempted to save ops from non-whitelisted namespaces to SavedModel: "
                    f"['{node.op}'].\nPlease verify that these ops should be saved, since they must be "
                    "available when loading the SavedModel. If loading from Python, you must import the "
                    "library defining these ops. From C++, link the custom ops to the serving binary. Once "
                    "you've confirmed this, add the following namespaces to the `namespace_whitelist` "
                    f"argument in tf.saved_model.SaveOptions: {{'{namespace.split('>')[0]}'}}."
                )
            strip_defaults(node)


def put_in_order(nodes: dict[str, Any], ops: Iterable[Operation]) -> None:
    """Adds the control inputs that let others run the effects of a function in the order in which it was written."""
    writers: dict[int, str] = {}
    readers: dict[int, list[str]] = {}
    last = ""
    for op in ops:
        node = nodes.get(op.name)
        if node is None:
            continue
        resources = {id(x) for x in op.inputs if x.dtype == dtypes.resource}
        reads = op.reads_only
        before: list[str] = []
        for key in resources:
            if key in writers:
                before.append(writers[key])
            if reads:
                readers.setdefault(key, []).append(op.name)
            else:
                before += readers.pop(key, [])
                writers[key] = op.name
        if not resources and op.effects:
            before += [last] if last else []
            last = op.name
        known = {text.partition(":")[0].removeprefix("^") for text in node.input}
        node.input.extend(f"^{name}" for name in dict.fromkeys(before) if name not in known)


# How Python calls them.


def concrete_message(concrete: Any, bound: list[int]) -> Any:
    """The `SavedConcreteFunction`: arguments, results, and the objects behind the captures."""
    made = protos.SavedConcreteFunction(bound_inputs=bound)
    args, kwargs = concrete.structured_input_signature
    made.canonicalized_input_signature.CopyFrom(
        structures.encode((tuple(structures.known(args)), structures.known(dict(kwargs))))
    )
    made.output_signature.CopyFrom(structures.encode(results_of(concrete)))
    return made


def can_be_saved(concrete: Any) -> bool:
    """Whether all Python values among the arguments can be written."""
    leaves = nest.flatten(structures.known(list(concrete.structured_input_signature)))
    return not any(isinstance(x, structures.Unknown) for x in leaves)


def results_of(concrete: Any) -> Any:
    """The results with specs for tensors, which are named by their places."""

    def described(value: Any, path: str) -> Any:
        if value is None:
            return None
        if isinstance(value, (SymbolicTensor, TensorSpec)):
            return TensorSpec(value.shape, value.dtype, path or "unknown")
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            items = zip(fields_of(value), value, strict=True)
            return type(value)(*(described(v, _joined(path, k)) for k, v in items))
        if isinstance(value, (list, tuple)):
            found = [described(v, _joined(path, f"tensor_{i}")) for i, v in enumerate(value)]
            return found if isinstance(value, list) else tuple(found)
        if isinstance(value, dict):
            return {k: described(v, _joined(path, str(k))) for k, v in value.items()}
        return getattr(value, "_type_spec", value)

    return described(concrete.graph.structured_outputs, "")


def _joined(path: str, name: str) -> str:
    return f"{path}_{name}" if path else name


def spec_of_function(function: Any) -> Any:
    """The `FunctionSpec` of a tf.function."""
    made = protos.FunctionSpec()
    made.fullargspec.CopyFrom(structures.encode(argument_spec(function.function_spec.signature)))
    signature = function.input_signature
    made.input_signature.CopyFrom(
        structures.encode(None if signature is None else tuple(structures.known(signature)))
    )
    compiled = function._jit_compile
    if compiled is not None:
        made.jit_compile = 1 if compiled else 2
    return made


def argument_spec(signature: Any) -> FullArgSpec:
    """A signature as a full argument spec; defaults that cannot be written are None."""
    parameters = list(signature.parameters.values()) if signature is not None else []
    positional = [
        p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    varargs = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    varkw = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
    kwonly = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    defaults = tuple(_written(p.default) for p in positional if p.default is not p.empty)
    kwdefaults = {p.name: _written(p.default) for p in kwonly if p.default is not p.empty}
    return FullArgSpec(
        [p.name for p in positional], varargs, varkw, defaults or None, [p.name for p in kwonly],
        kwdefaults or None, {},
    )  # fmt: skip


def argument_spec_of_concrete(concrete: Any) -> FullArgSpec | None:
    """The arguments of a trace, without defaults; None if they are not known by name."""
    args, kwargs = concrete.structured_input_signature
    names = list(concrete.parameter_names)[: len(args)]
    varargs = None
    if len(args) > len(names):
        varargs = "args"
    return FullArgSpec(names, varargs, None, None, sorted(kwargs), None, {})


def _written(default: Any) -> Any:
    found = structures.known(default)
    unknown = any(isinstance(x, structures.Unknown) for x in nest.flatten(found))
    return None if unknown else found


def signature_of(spec: Any) -> inspect.Signature:
    """The signature that a full argument spec tells of. Raises ValueError for one that cannot be."""
    kinds = inspect.Parameter
    empty = kinds.empty
    try:
        args, defaults = list(spec.args or ()), list(spec.defaults or ())
        missing = len(args) - len(defaults)
        made = [
            kinds(
                name,
                kinds.POSITIONAL_OR_KEYWORD,
                default=defaults[i - missing] if i >= missing else empty,
            )
            for i, name in enumerate(args)
        ]
        if spec.varargs is not None:
            made.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
        given = spec.kwonlydefaults or {}
        made += [
            kinds(name, kinds.KEYWORD_ONLY, default=given.get(name, empty))
            for name in spec.kwonlyargs or ()
        ]
        if spec.varkw is not None:
            made.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
        return inspect.Signature(made)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"A function cannot have the arguments {spec}: {error}") from None
