"""The nodes of a session's graph, as the master knows them: messages, what they take and what they give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, NotFoundError
from tapeflow.graph.build import reference_variables
from tapeflow.graph.interchange.functionalize import functionalized
from tapeflow.graph.interchange.references import split_reference, topological
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.topology import in_order
from tapeflow.ops.binder import MOST_OUTPUTS
from tapeflow.ops.state.resource_op import row_of


class Nodes:
    """The nodes of a GraphDef, each after those that it needs.

    Args:
      graph_def: a GraphDef, which is kept.

    Raises InvalidArgumentError for what is no graph, NotFoundError for an op that is not known.
    """

    def __init__(self, graph_def: protos.GraphDef):
        try:
            self.graph_def = functionalized(reference_variables.rewritten(graph_def))
            order = topological(self.graph_def.node, split_reference, set())
        except ValueError as error:
            raise InvalidArgumentError(None, None, str(error)) from None
        self.functions = {each.signature.name: each for each in self.graph_def.library.function}
        self.by_name = {node.name: node for node in self.graph_def.node}
        self.numbers = {self.graph_def.node[i].name: number for number, i in enumerate(order)}
        self._types: dict[str, list[DType]] = {}
        for node in self.graph_def.node:
            if not op_defs.known(node.op) and node.op not in self.functions:
                raise NotFoundError(
                    node, None,
                    f"Op type not registered '{node.op}' in binary running on this host (node '{node.name}'). Make "
                    "sure the Op and Kernel are registered in the binary running in this process.",
                )  # fmt: skip

    def node(self, name: str) -> Any:
        """The node of a name. Raises NotFoundError for an unknown one."""
        found = self.by_name.get(name)
        if found is None:
            raise NotFoundError(None, None, f"Node {name} not found in the graph")
        return found

    def tensor(self, text: str, what: str) -> tuple[str, int]:
        """A tensor as it is named, in its parts; `what` it is, for errors: "FeedInputs" or "FetchOutputs".

        Raises NotFoundError for a node that there is not, InvalidArgumentError for an output that it has not.
        """
        name, number = split_reference(text)
        if name not in self.by_name:
            raise NotFoundError(None, None, f"{what}: unable to find feed output {text}" if what == "FeedInputs"
                                else f"{what} node {text}: not found")  # fmt: skip
        if not 0 <= number < len(self.output_types(name)):
            raise InvalidArgumentError(None, None, f"{what}: output index too large, must be < "
                                       f"{len(self.output_types(name))}: {text}")  # fmt: skip
        return name, number

    def inputs(self, name: str) -> Iterator[tuple[str, int]]:
        """What a node takes: node and number, the number -1 for what it only waits for."""
        for text in self.by_name[name].input:
            yield split_reference(text)

    def output_types(self, name: str) -> list[DType]:
        """The dtypes of the outputs of a node; a reference to a handle is `resource`."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = _output_types(self.by_name[name], self.functions)
        return found

    def type_of(self, name: str, number: int) -> DType:
        """The dtype of an output. Raises InvalidArgumentError where there is none of this number."""
        kinds = self.output_types(name)
        if not 0 <= number < len(kinds):
            raise InvalidArgumentError(
                None, None,
                f"Connecting to invalid output {number} of source node {name} which has {len(kinds)} outputs.",
            )  # fmt: skip
        return kinds[number]

    def needed(self, wanted: Iterable[str], fed: set[tuple[str, int]]) -> list[str]:
        """The nodes that others need where some tensors are fed, in the order in which all parts run them.

        Those that may have to wait for others come as late as they can.
        """
        needs: dict[str, list[str]] = {}
        todo = list(wanted)
        while todo:
            name = todo.pop()
            if name not in needs:
                needs[name] = [source for source, _ in self.sources(name, fed)]
                todo += needs[name]
        return in_order(needs, self._rank)

    def sources(self, name: str, fed: set[tuple[str, int]]) -> Iterator[tuple[str, int]]:
        """What of the inputs of a node is not fed; nodes of which all is fed are not waited for."""
        for source, number in self.inputs(name):
            if number >= 0:
                if (source, number) not in fed:
                    yield source, number
            elif not self.is_fed(source, fed):
                yield source, number

    def is_fed(self, name: str, fed: set[tuple[str, int]]) -> bool:
        """Whether all outputs of a node are fed."""
        return (name, 0) in fed and all((name, i) in fed for i in range(len(self.output_types(name))))

    def _rank(self, name: str) -> tuple[int, int]:
        row = row_of(self.by_name[name].op)
        return (0 if row is None else row.patience), self.numbers[name]

    def library_of(self, names: Iterable[str]) -> list[Any]:
        """The functions that nodes call, and those that these call."""
        found: dict[str, Any] = {}
        todo = [each for name in names for each in called(self.by_name[name])]
        while todo:
            function = todo.pop()
            if function in self.functions and function not in found:
                found[function] = self.functions[function]
                todo += [each for node in found[function].node_def for each in called(node)]
        return list(found.values())


def called(node: protos.NodeDef) -> list[str]:
    """The names of the functions that a node may call."""
    found = [node.op]
    for attr in node.attr.values():
        if attr.HasField("func"):
            found.append(attr.func.name)
        elif attr.HasField("list"):
            found += [each.name for each in attr.list.func]
    return found


def _output_types(node: protos.NodeDef, functions: dict[str, Any]) -> list[DType]:
    if node.op in functions:
        return [dtypes.as_dtype(each.type) for each in functions[node.op].signature.output_arg]
    definition = op_defs.op_def(node.op)
    values = {attr.name: attr.default_value for attr in definition.attr if attr.HasField("default_value")}
    values.update(node.attr)
    found: list[DType] = []
    for argument in definition.output_arg:
        try:
            if argument.type_list_attr:
                kinds = list(values[argument.type_list_attr].list.type)
            else:
                count = values[argument.number_attr].i if argument.number_attr else 1
                if not 0 <= count <= MOST_OUTPUTS:
                    raise ValueError
                kinds = [argument.type or values[argument.type_attr].type] * count
            found += [dtypes.resource if argument.is_ref else dtypes.as_dtype(kind) for kind in kinds]
        except (KeyError, TypeError, ValueError):
            raise InvalidArgumentError(
                node, None, f"The attrs of node '{node.name}' ({node.op}) do not say what its output "
                f"'{argument.name}' is"
            ) from None  # fmt: skip
    return found
