"""Rows of ops that are called as nodes of graphs alone: what is known of them, and how those that run do.

`node` makes one of a signature and attrs, as `table.op` makes a row that is called on tensors; `NODES` holds all by
name. Their inputs and outputs may be lists of several dtypes, and their attrs functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.api import providers
from tapeflow.ops.binder import Schema
from tapeflow.ops.signature import Kind, kind_of

NODES: dict[str, NodeRow] = {}


class NodeRow:
    """An op that is a node of a graph.

    Attributes:
      name: of the op.
      signature: "handle: resource, components: Tcomponents -> size: int32"; a type that is an attr of the kind
        `type_list` makes a list of the dtypes in it.
      inputs, outputs: the arguments of the signature.
      schema: the signature, parsed.
      attrs: their kinds.
      stateful: whether the definition of the op says that it is.
      touches: what outside of the program it may read, write or run: "files", "process" (its objects that are no
        inputs), "python", "streams", or "".
      less: an attr, values of it (`value*` for every value with that beginning), and what nodes with one of these
        touch.
      forwards: whether the outputs are the inputs.
      calls: whether it calls a function with exactly its own inputs.
      flattens: whether its function gives datasets, of which the elements are those of its result.
      kernel: runs it on the host: (attrs, *inputs) -> the outputs. None for an op that something else runs, or nothing.
    """

    types: Mapping[str, Any] = {}
    handles = "resource"
    flattens = False

    def __init__(
        self, name: str, signature: str, attrs: Mapping[str, Kind], stateful: bool = False, touches: str = "",
        less: tuple[str, tuple[str, ...], str] | None = None, forwards: bool = False, calls: bool = False,
    ):  # fmt: skip
        self.name, self.signature, self.attrs = name, signature, attrs
        self.schema = Schema(name, signature, self.types, attrs)
        self.inputs, self.outputs, self.defaults = self.schema.inputs, self.schema.outputs, self.schema.defaults
        self.stateful, self.touches, self.less, self.forwards, self.calls = stateful, touches, less, forwards, calls
        self.kernel: Any = None

    @property
    def makes_dataset(self) -> bool:
        """Whether nodes make a dataset."""
        return self.kernel is not None and [(a.name, a.type) for a in self.outputs] == [("handle", "variant")]

    def runs(self, kernel: Callable[..., Any]) -> NodeRow:
        """Decorate the kernel, and return the row."""
        self.kernel = kernel
        return self

    def grouped(self, attrs: Mapping[str, Any], values: Sequence[Any]) -> list[list[Any]]:
        """The tensors of each input."""
        rest = iter(values)
        return [[next(rest) for _ in range(count)] for count in self.schema.counts(attrs)]

    def also(self, name: str, without: tuple[str, ...] = ("metadata",)) -> NodeRow:
        """The row of an earlier op that is the same under another name, and lacks some attrs.

        Its kernel is that of this row, which is decorated already.
        """
        attrs = {key: kind for key, kind in self.attrs.items() if key not in without}
        made = node(name, self.signature, attrs, stateful=self.stateful, touches=self.touches)
        made.kernel, made.flattens = self.kernel, self.flattens
        return made


def kinds_of(attrs: Mapping[str, Any]) -> dict[str, Kind]:
    """The kinds of attrs of which some are given by their defaults."""
    return {key: kind_of(value) for key, value in attrs.items()}


def node(name: str, signature: str, attrs: Mapping[str, Any] | None = None, **facts: Any) -> NodeRow:
    """Make the row of a node, with what else `NodeRow` takes; `@node(...).runs` decorates a kernel that runs it."""
    row = NODES[name] = NodeRow(name, signature, kinds_of(attrs or {}), **facts)
    return row


def load_all() -> None:
    """Load the rows of all packages."""
    providers.load("dataset_nodes")
    providers.load("test_nodes")


def has_kernel(name: str) -> bool:
    """Whether the kernel of their row runs nodes of this name."""
    return type(NODES.get(name)) is NodeRow and NODES[name].kernel is not None


def acts(name: str) -> bool:
    """Whether the row of a node says that it has effects, for which alone it is there, as it has no outputs."""
    row = NODES.get(name)
    return type(row) is NodeRow and row.stateful and not row.outputs


def find(name: str) -> NodeRow | None:
    """The row of a node, or None if there is no such op."""
    row = NODES.get(name)
    if row is None:
        load_all()
        row = NODES.get(name)
    return row
