"""Sets of nodes, what their inputs refer to, and the functions that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.errors import UnimplementedError
from tapeflow.graph.interchange.references import split_reference, topological
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.array.rows import Identity

_INT32 = dtypes.int32.as_datatype_enum
_DTYPES = frozenset(protos.DataType.values()) - {protos.DataType.DT_INVALID}
_OUTPUT = [("output", 0)]
# How many inputs and which outputs the nodes have that are looked at or replaced; dtype 0: that of the input.
_OUTPUTS = {
    "Switch": [("output_false", 0), ("output_true", 0)], "Merge": [*_OUTPUT, ("value_index", _INT32)],
    "Enter": _OUTPUT, "Exit": _OUTPUT, "NextIteration": _OUTPUT, "LoopCond": [("output", dtypes.bool.as_datatype_enum)],
}  # fmt: skip
_INPUTS = {Identity.name: 1, "Switch": 2, "Enter": 1, "Exit": 1, "NextIteration": 1, "LoopCond": 1}
_INPUTS |= {f"Ref{kind}": _INPUTS[kind] for kind in ("Switch", "Enter", "Exit", "NextIteration")}
_OUTPUTS |= {f"Ref{kind}": _OUTPUTS[kind] for kind in ("Switch", "Merge", "Enter", "Exit", "NextIteration")}


def refuse(node: protos.NodeDef, why: str) -> UnimplementedError:
    """An error for control flow of 1.x that cannot be turned into functions."""
    return UnimplementedError(
        node, None,
        f"Node '{node.name}' ({node.op}) {why}. Write the graph with tf.compat.v1.enable_control_flow_v2(), which "
        "makes If and While nodes.",
    )  # fmt: skip


def plain(text: str) -> str:
    """A reference in the one spelling that is compared here: "node" is "node:0"."""
    name, number = split_reference(text)
    return f"^{name}" if number < 0 else f"{name}:{number}"


def source(text: str) -> str:
    """The name of the node that a reference is to."""
    return split_reference(text)[0]


def data(node: protos.NodeDef) -> list[str]:
    """The references to tensors of a node."""
    return [plain(text) for text in node.input if not text.startswith("^")]


def controls(node: protos.NodeDef) -> list[str]:
    """The names of the nodes that a node waits for."""
    return [text[1:] for text in node.input if text.startswith("^")]


class Bodies:
    """Makes functions.

    Args:
      library: the functions that nodes may call.
      target: the `FunctionDefLibrary` to which functions are added.
      prepare: called with the nodes of each function, and references to its results, before it is made; returns
        references to the results.
    """

    def __init__(self, library: Any, target: Any, prepare: Callable[[Nodes, Sequence[str]], list[str]]):
        self.signatures = {f.signature.name: f.signature for f in library.function}
        self._target = target
        self._prepare = prepare
        self._taken = set(self.signatures)

    def free_name(self, name: str) -> str:
        """`name`, with a number if a function has it."""
        name = name.replace("/", "_").replace(".", "_")
        free, count = name, 0
        while free in self._taken:
            count += 1
            free = f"{name}_{count}"
        self._taken.add(free)
        return free

    def add(self, name: str, nodes: Nodes, arguments: Sequence[tuple[str, int]], results: Sequence[str]) -> Any:
        """Adds the function of `nodes`, and returns its `FunctionDef`.

        Args:
          arguments: name and dtype of each; nodes refer to them as "name:0".
          results: references to what it returns.
        """
        nodes.arguments = list(arguments)
        results = self._prepare(nodes, results)
        made = self._target.function.add()
        made.signature.name = name
        for label, dtype in arguments:
            made.signature.input_arg.add(name=label, type=dtype)
        for i, text in enumerate(results):
            made.signature.output_arg.add(name=f"result_{i}", type=nodes.dtype(text))
            made.ret[f"result_{i}"] = nodes.labelled(text)
        for node in nodes.by_name.values():
            own = made.node_def.add()
            own.CopyFrom(node)
            own.input[:] = [*(nodes.labelled(text) for text in data(node)), *(f"^{name}" for name in controls(node))]
            nodes.forget_absent(own)
        return made


class Nodes:
    """Nodes that are changed, by name; their inputs are numbered references ("node:3").

    Args:
      nodes: messages, of which copies are kept.
      arguments: names and dtypes of the function's arguments, if they are the nodes of one.
      are_graph: whether they are those of the graph, which can be named when it runs.
    """

    def __init__(
        self, nodes: Iterable[Any], bodies: Bodies, arguments: Sequence[tuple[str, int]] = (), are_graph: bool = False
    ):
        self.by_name: dict[str, Any] = {}
        for node in nodes:
            if node.name in self.by_name:
                raise ValueError(f"Node '{node.name}' is not unique")
            count = sum(not text.startswith("^") for text in node.input)
            if count != _INPUTS.get(node.op, count) or (node.op in ("Merge", "RefMerge") and not count):
                wanted = _INPUTS.get(node.op, "some")
                raise ValueError(f"Node '{node.name}' ({node.op}) has {count} inputs, {wanted} expected")
            own = protos.NodeDef()
            own.CopyFrom(node)
            self.by_name[node.name] = own
        self.bodies = bodies
        self.arguments = list(arguments)
        self.are_graph = are_graph

    def subset(self, names: Iterable[str], renamed: Mapping[str, str]) -> Nodes:
        """Copies of some nodes, with other references in the place of those of `renamed`."""
        made = Nodes((self.by_name[name] for name in names), self.bodies)
        for node in made.by_name.values():
            waits = [name for name in controls(node) if name in made.by_name]
            made.set_inputs(node, [renamed.get(text, text) for text in data(node)], waits)
        return made

    def order(self) -> list[str]:
        """The names of the nodes, each after what it needs. Raises ValueError for a cycle."""
        nodes = list(self.by_name.values())
        known = {text for name, _ in self.arguments for text in (name, f"{name}:0", f"^{name}")}
        return [nodes[i].name for i in topological(nodes, lambda text: (source(text), 0), known)]

    def free_name(self, name: str) -> str:
        """`name`, with a number if a node has it."""
        free, count = name, 0
        while free in self.by_name:
            count += 1
            free = f"{name}_{count}"
        return free

    def add(self, name: str, op: str, inputs: Sequence[str], waits: Iterable[str] = (), like: Any = None) -> Any:
        """A new node, on the device of the node `like`. Its attrs are to be filled in."""
        node = protos.NodeDef(name=name, op=op, device="" if like is None else like.device)
        self.set_inputs(node, inputs, waits)
        self.by_name[name] = node
        return node

    def identity(self, name: str, text: str, dtype: int, like: Any = None, waits: Iterable[str] = ()) -> None:
        """Lets `name` be the tensor `text`."""
        self.add(name, Identity.name, [text], waits, like).attr["T"].type = dtype

    def set_inputs(self, node: protos.NodeDef, inputs: Sequence[str], waits: Iterable[str]) -> None:
        node.input[:] = [*inputs, *(f"^{name}" for name in dict.fromkeys(waits))]

    def forget_absent(self, node: protos.NodeDef) -> None:
        """Takes out of the attr `_class` the nodes that are not among these."""
        if "_class" in node.attr:
            names = [each.removeprefix(b"loc:@").decode(errors="replace") for each in node.attr["_class"].list.s]
            known = [f"loc:@{name}".encode() for name in names if name in self.by_name]
            node.attr["_class"].list.s[:] = known
            if not known:
                del node.attr["_class"]

    # What nodes give.

    def outputs(self, node: protos.NodeDef) -> list[tuple[str, int, int]]:
        """Name of the argument, number in it and dtype of each output of a node."""
        if node.op in _OUTPUTS:
            return [(name, 0, kind or node.attr["T"].type) for name, kind in _OUTPUTS[node.op]]
        signature, attrs = self._signature(node)
        found = []
        for argument in signature.output_arg:
            if argument.type_list_attr:
                kinds = list(attrs(argument.type_list_attr).list.type)
            else:
                count = attrs(argument.number_attr).i if argument.number_attr else 1
                kind = attrs(argument.type_attr).type if argument.type_attr else argument.type
                kinds = [kind] * min(max(count, 0), 1 << 16)
            found += [(argument.name, i, kind) for i, kind in enumerate(kinds)]
        return found

    def _signature(self, node: protos.NodeDef) -> tuple[Any, Callable[[str], Any]]:
        if node.op in self.bodies.signatures:
            return self.bodies.signatures[node.op], lambda name: node.attr[name]
        try:
            signature = op_defs.op_def(node.op)
        except KeyError:
            raise refuse(node, "has an unknown op, and is in a branch or loop of 1.x") from None
        defaults = {attr.name: attr.default_value for attr in signature.attr}

        def attr(name: str) -> Any:
            return node.attr[name] if name in node.attr else defaults[name]

        return signature, attr

    def _output(self, text: str) -> tuple[str, int, int]:
        name, number = split_reference(text)
        if name not in self.by_name:
            raise ValueError(f"Unknown input node '{text}'")
        outputs = self.outputs(self.by_name[name])
        if number >= len(outputs):
            raise ValueError(
                f"Connecting to invalid output {number} of source node {name} which has {len(outputs)} outputs."
            )
        if outputs[number][2] not in _DTYPES:
            raise ValueError(f"Output {number} of node '{name}' has no dtype")
        return outputs[number]

    def dtype(self, text: str) -> int:
        """The number of the dtype of a reference. Raises ValueError if there is no such output."""
        for name, dtype in self.arguments:
            if text == f"{name}:0":
                return dtype
        return self._output(text)[2]

    def labelled(self, text: str) -> str:
        """A reference as a `FunctionDef` spells it: "argument", or "node:output:number"."""
        name = source(text)
        if any(name == argument for argument, _ in self.arguments):
            return name
        label, number, _ = self._output(text)
        return f"{name}:{label}:{number}"

    def numbered(self, text: str) -> str:
        """The reverse of `labelled`."""
        name, _, rest = text.partition(":")
        if any(name == argument for argument, _ in self.arguments):
            return f"{name}:0"
        label, _, number = rest.partition(":")
        place = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 0
        if name in self.by_name:
            for i, (own, within, _) in enumerate(self.outputs(self.by_name[name])):
                if own == label and within == place:
                    return f"{name}:{i}"
        raise ValueError(f"Unknown input '{text}'")

    def number_references(self) -> None:
        """Spells the inputs of the nodes of a `FunctionDef` as a graph does."""
        spelled = {
            name: [self.numbered(text) for text in node.input if not text.startswith("^")]
            for name, node in self.by_name.items()
        }
        for name, inputs in spelled.items():
            self.set_inputs(self.by_name[name], inputs, controls(self.by_name[name]))
