"""The nodes of a `GraphDef` by name, for passes that look at patterns, exchange nodes and drop what is left over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.files.tensor_proto import make_ndarray, make_tensor_proto
from tapeflow.graph.interchange.graph_util import copy_setting, node_name

_OUTPUT = re.compile(r"^(\^?)(.*?)(?::(\d+))?$")


def parts_of(text: str) -> tuple[bool, str, int]:
    """Whether an input is a control input, its node, and the number of the node's output."""
    control, name, output = _OUTPUT.match(text).groups()  # type: ignore[union-attr]
    return bool(control), name, int(output or 0)


def data_inputs(node: protos.NodeDef) -> list[str]:
    """The inputs of a node that are values."""
    return [text for text in node.input if not text.startswith("^")]


def constant(name: str, value: Any, dtype: DTypeLike | None = None) -> Any:
    """A node with a value.

    Args:
      name: its name.
      value: an array, or what makes one.
      dtype: a dtype; None for that of the value.

    Returns:
      A `NodeDef`.
    """
    proto = make_tensor_proto(value, dtype)
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = proto.dtype
    node.attr["value"].tensor.CopyFrom(proto)
    return node


def value_of(node: protos.NodeDef) -> np.ndarray:
    """The value of a node that is a constant."""
    return make_ndarray(node.attr["value"].tensor)


def made(
    op: str, name: str, inputs: Sequence[str] = (), like: Any = None, copied: Iterable[str] = (), **attrs: Any
) -> Any:
    """A new node.

    Args:
      op: its op.
      name: its name.
      inputs: its inputs.
      like: a node that it has some attrs of.
      copied: the names of these, those that `like` has.
      attrs: further attrs: dtypes, strings, bools, ints or floats.

    Returns:
      A `NodeDef`.
    """
    node = protos.NodeDef(op=op, name=name, input=inputs)
    for key in copied:
        if key in like.attr:
            node.attr[key].CopyFrom(like.attr[key])
    for key, value in attrs.items():
        if isinstance(value, bool):
            node.attr[key].b = value
        elif isinstance(value, int):
            node.attr[key].i = value
        elif isinstance(value, float):
            node.attr[key].f = value
        elif isinstance(value, str):
            node.attr[key].s = value.encode()
        else:
            node.attr[key].type = as_dtype(value).as_datatype_enum
    return node


class Nodes:
    """The nodes of a `GraphDef`, copied, by name.

    Args:
      graph_def: a `GraphDef`.
      kept: names of nodes, or of their outputs, that `prune` leaves although no node uses them.
    """

    def __init__(self, graph_def: protos.GraphDef, kept: Iterable[str] = ()):
        self._source = graph_def
        self._by_name: dict[str, Any] = {}
        for node in graph_def.node:
            copy = protos.NodeDef()
            copy.CopyFrom(node)
            self._by_name[node.name] = copy
        self.kept = {node_name(name) for name in kept}

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._by_name.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def get(self, text: str) -> Any:
        """The node of a name or an input; None where there is none."""
        return self._by_name.get(node_name(text))

    def put(self, *nodes: Any) -> None:
        """Add nodes; one of a name that is there takes its place."""
        for node in nodes:
            self._by_name[node.name] = node

    def remove(self, *names: str) -> None:
        """Take nodes out."""
        for name in names:
            self._by_name.pop(name, None)

    def inputs(self, node: protos.NodeDef, *kinds: str) -> list[Any] | None:
        """The nodes of a node's inputs that are first outputs; None unless their ops are these.

        Args:
          node: a node.
          kinds: for each input the ops that it may be, separated by "|"; "*" for any.
        """
        texts = data_inputs(node)
        if len(texts) != len(kinds):
            return None
        found = []
        for text, kind in zip(texts, kinds, strict=True):
            source = self.get(text)
            if source is None or (kind != "*" and (source.op not in kind.split("|") or parts_of(text)[2] != 0)):
                return None
            found.append(source)
        return found

    def uses(self) -> Counter[str]:
        """How many inputs each node is."""
        return Counter(node_name(text) for node in self._by_name.values() for text in node.input)

    def only_here(self, *nodes: Any) -> bool:
        """Whether each of these nodes is one input, and nothing that is kept."""
        uses = self.uses()
        return all(uses[node.name] == 1 and node.name not in self.kept for node in nodes)

    def prune(self, names: Iterable[str]) -> None:
        """Remove those of these nodes that no node uses any more, and then what only they used.

        Args:
          names: the names of the nodes; nodes that are not there are skipped.
        """
        open_ = [node_name(name) for name in names]
        while open_:
            uses = self.uses()
            unused = [n for n in dict.fromkeys(open_) if n in self and not uses[n] and n not in self.kept]
            open_ = [node_name(text) for n in unused for text in self._by_name[n].input]
            self.remove(*unused)

    def redirect(self, new: Callable[[str, int], str | None]) -> None:
        """Let nodes take other inputs.

        Args:
          new: a function of a node's name and the number of its output, -1 for control inputs, that returns what
            takes its place as an input, and None where it stays.
        """
        for node in self._by_name.values():
            for i, text in enumerate(node.input):
                control, name, output = parts_of(text)
                other = new(name, -1 if control else output)
                if other is not None:
                    node.input[i] = f"^{node_name(other)}" if control else other

    def graph_def(self) -> Any:
        """A `GraphDef` of these nodes, with the functions and versions of the first one."""
        result = protos.GraphDef()
        result.node.extend(self._by_name.values())
        copy_setting(self._source, result)
        return result
