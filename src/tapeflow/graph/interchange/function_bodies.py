"""The bodies of functions in a `FunctionDefLibrary`, made when a node first names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native, protos
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import USER_NAME, FuncGraph, copy_handle
from tapeflow.graph.interchange import attributes, function_attributes, graph_def, trust
from tapeflow.graph.interchange.functionalize import functionalized_library
from tapeflow.graph.interchange.references import topological
from tapeflow.graph.nodes.from_node_def import NodeMaker
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor

# How deep functions may call each other, and how many nodes they may be when each call is written out: more
# would take for ever to run.
_DEEPEST = 64
_MOST_NODES = 1_000_000


class Functions:
    """Functions by name.

    Args:
      library: a `FunctionDefLibrary`.

    Attributes:
      limits: of the bodies, where they are not trusted; None: they are.
      checked: those whose nodes are harmless, in that case.
      gradients: what knows gradient functions of nodes (`function_of(node)`) and lets operations have them
        (`attach(op, name)`), or None.

    Raises ValueError for a name that is there twice.
    """

    def __init__(self, library: Any):
        self._definitions: dict[str, Any] = {}
        self._bodies: dict[Any, Body] = {}
        self._measures: dict[str, tuple[int, int]] = {}
        for definition in functionalized_library(library).function:
            name = definition.signature.name
            if name in self._definitions and self._definitions[name] != definition:
                raise ValueError(
                    f"Cannot add function '{name}' because a different function with the same name already exists."
                )
            self._definitions[name] = definition
        self.limits = trust.current()
        self.checked = trust.Checked(self._definitions)
        self.gradients: Any = None

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    def body(self, name: str, where: str, given: Sequence[SymbolicTensor] = ()) -> Body:
        """The body of a function, the same one for the same variables.

        Args:
          where: the node that names it.
          given: the tensors of the call: what is known of the variables behind resources is known in the body too.

        Raises ValueError for a function that is not there, or cannot be one.
        """
        if name not in self._definitions:
            raise ValueError(
                f"Function '{name}', which node '{where}' calls, is not in the library of the GraphDef."
            )
        handles = tuple(
            (str(getattr(x, "handle_dtype", None)), getattr(x, "handle_shape", None))
            for x in given
            if x.dtype == dtypes.resource
        )
        key = (name, handles)
        if key not in self._bodies:
            self._measure(name)
            self._bodies[key] = self._build(name, given)
        return self._bodies[key]

    def definition(self, name: str) -> Any:
        """The `FunctionDef` of a function. Raises ValueError if there is none."""
        if name not in self._definitions:
            raise ValueError(f"Function '{name}' is not in the library of the GraphDef.")
        return self._definitions[name]

    def arity(self, name: str) -> int:
        """The number of arguments of a function. Raises ValueError if there is none of this name."""
        return len(self.definition(name).signature.input_arg)

    def gradient_of(self, node: protos.NodeDef) -> str | None:
        """The name of the function that a node has for its gradient; None if there is none."""
        return None if self.gradients is None else self.gradients.function_of(node)

    def fresh(self, name: str, given: Sequence[Any]) -> Body:
        """A new body of a function, which is the caller's own; else as `body`."""
        self.definition(name)
        self._measure(name)
        return self._build(name, given)

    def _calls(self, name: str) -> list[str]:
        """The functions that one names, as often as it does."""
        found = []
        for node in self._definitions[name].node_def:
            found.append(node.op)
            found.append(self.gradient_of(node) or "")
            for attr in node.attr.values():
                found.append(attr.func.name)
                found += [each.name for each in attr.list.func]
        return [each for each in found if each in self._definitions]

    def _measure(self, name: str) -> None:
        """Raises ValueError for functions that call themselves, or others too often or too deep."""
        stack = [name]
        open_: list[str] = []
        while stack:
            current = stack[-1]
            if current in self._measures:
                stack.pop()
                continue
            calls = self._calls(current)
            fresh = [each for each in calls if each not in self._measures]
            if open_ and open_[-1] == current and not fresh:
                depth = 1 + max((self._measures[each][0] for each in calls), default=0)
                size = len(self._definitions[current].node_def) + sum(
                    self._measures[each][1] for each in calls
                )
                if depth > _DEEPEST:
                    raise ValueError(
                        f"Function '{current}' calls functions more than {_DEEPEST} deep."
                    )
                if size > _MOST_NODES:
                    raise ValueError(
                        f"Function '{current}' is more than {_MOST_NODES} nodes with all that it calls."
                    )
                self._measures[current] = (depth, size)
                open_.pop()
                stack.pop()
                continue
            if current in open_[:-1] or (open_ and open_[-1] == current) or current in fresh:
                raise ValueError(f"Function '{current}' calls itself.")
            open_.append(current)
            stack += dict.fromkeys(fresh)

    def _build(self, name: str, given: Sequence[SymbolicTensor]) -> Body:
        definition = self._definitions[name]
        graph = FuncGraph(name)
        graph.function_attrs = function_attributes.of_definition(definition)
        if self.limits is not None:
            graph.limits = self.limits
            self.checked.once(name)

        def build() -> list[SymbolicTensor]:
            with graph.as_default():
                return _Builder(graph, definition, self).build(given)

        # Inference of shapes computes values.
        limits = self.limits
        outputs = build() if limits is None else _native.call_limited(limits.steps, limits.memory, build)
        graph.outputs = list(outputs)
        body = Body(graph, outputs)
        graph.__dict__.setdefault("_function_names", {})[tuple(map(id, outputs))] = name
        return body


class _Builder:
    """Builds the graph of one `FunctionDef`."""

    def __init__(self, graph: FuncGraph, definition: Any, functions: Functions):
        self.graph = graph
        self.definition = definition
        self.label = f"function '{definition.signature.name}'"
        self.functions = functions
        self.maker = NodeMaker(graph, functions)
        self.arguments: dict[str, SymbolicTensor] = {}
        self.operations: dict[str, Operation] = {}

    def build(self, given: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
        signature = self.definition.signature
        for i, argument in enumerate(signature.input_arg):
            label = self._attr(i, USER_NAME).s
            inner = self.graph.add_input(self._dtype(argument), self._shape(i), argument.name + "/", label)
            if i < len(given):
                copy_handle(given[i], inner)
            self.arguments[argument.name] = inner
        nodes = self.definition.node_def
        names = self.arguments.keys() & {node.name for node in nodes}
        if names:
            raise ValueError(f"Node '{min(names)}' of {self.label} has the name of an argument")
        known = {text for name in self.arguments for text in (name, f"{name}:0", f"^{name}")}
        order = topological(
            nodes, lambda text: (text.removeprefix("^").partition(":")[0], 0), known
        )
        for i in order:
            self.maker.check_known(nodes[i])
        for i in order:
            self._add(nodes[i])
        outputs = []
        for argument in signature.output_arg:
            if argument.name not in self.definition.ret:
                raise ValueError(f"Return value '{argument.name}' of {self.label} is missing")
            y = self._tensor(self.definition.ret[argument.name], "ret")
            if y.dtype != self._dtype(argument):
                raise ValueError(
                    f"Return value '{argument.name}' of {self.label} has dtype {y.dtype.name}"
                )
            outputs.append(y)
        return outputs

    def _dtype(self, argument: Any) -> DType:
        if (
            not argument.type
            or argument.type_attr
            or argument.number_attr
            or argument.type_list_attr
        ):
            raise ValueError(
                f"Argument '{argument.name}' of {self.label} has no fixed type, which is not supported"
            )
        try:
            return dtypes.as_dtype(argument.type).base_dtype
        except TypeError:
            raise ValueError(
                f"{argument.type} is no DataType, for argument '{argument.name}' of {self.label}"
            ) from None

    def _shape(self, i: int) -> tuple[int | None, ...] | None:
        listed = self._attr(i, "_output_shapes").list.shape
        if len(listed) != 1:
            return None
        shape = attributes.shape_of(listed[0], "_output_shapes")
        return None if shape.rank is None else tuple(shape.as_list())

    def _attr(self, i: int, name: str) -> Any:
        """An attr of an argument; an empty message where there is none."""
        attrs = self.definition.arg_attr[i].attr if i in self.definition.arg_attr else {}
        return attrs[name] if name in attrs else protos.AttrValue()

    def _add(self, node: protos.NodeDef) -> None:
        inputs = [self._tensor(text, node.name) for text in node.input if not text.startswith("^")]
        op = self.maker.make(node, inputs, node.name)
        for text in node.input:
            if text.startswith("^") and text[1:] in self.operations:
                op.control_inputs.append(self.operations[text[1:]])
        self.operations[node.name] = op
        gradient = self.functions.gradient_of(node)
        if gradient is not None:
            self.functions.gradients.attach(op, gradient)

    def _tensor(self, text: str, where: str) -> SymbolicTensor:
        """The tensor of "argument", or of "node:output:number"."""
        name, _, rest = text.partition(":")
        if name in self.arguments and rest in ("", "0"):
            return self.arguments[name]
        op = self.operations.get(name)
        output, _, number = rest.partition(":")
        if (
            op is not None
            and number.isascii()
            and (number.isdigit() or not number)
            and len(number) < 9
        ):
            first = 0
            sizes = [("output", 1)] if op.type == "Const" else graph_def.output_sizes(op)
            for label, count in sizes:
                if label == output and int(number or 0) < count:
                    return op.outputs[first + int(number or 0)]
                first += count
        raise ValueError(f"Node '{where}' of {self.label}: Unknown input '{text}'")
