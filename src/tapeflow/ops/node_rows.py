"""Rows of ops that are called as nodes of graphs alone: what is known of them, and how those that run do.

`node` makes one of a signature and attrs, as `table.op` makes a row that is called on tensors; `NODES` holds all by
name. Their inputs and outputs may be lists of several dtypes, and their attrs functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.ops.table import Argument, Kind, _kind, arguments, type_list

NODES: dict[str, NodeRow] = {}
# What loads the rows of packages above this one, until it has done so.
_sources: list[Callable[[], object]] = []


class NodeRow:
    """An op that is a node of a graph.

    Attributes:
      name: of the op.
      signature: "handle: resource, components: Tcomponents -> size: int32"; a type that is an attr of the kind
        `type_list` makes a list of the dtypes in it.
      inputs, outputs: the arguments of the signature.
      attrs: their kinds.
      stateful: whether the definition of the op says that it is.
      touches: what outside of the program it may read, write or run: "files", "process" (its objects that are no
        inputs), "python", "streams", or "".
      less: an attr, values of it (`value*` for every value with that beginning), and what nodes with one of these
        touch.
      forwards: whether the outputs are the inputs.
      flattens: whether its function gives datasets, of which the elements are those of its result.
      kernel: runs it on the host: (attrs, *inputs) -> the outputs. None for an op that something else runs, or nothing.
    """

    types: Mapping[str, Any] = {}
    handles = "resource"
    flattens = False

    def __init__(
        self, name: str, signature: str, attrs: Mapping[str, Kind], stateful: bool, touches: str,
        less: tuple[str, tuple[str, ...], str] | None, forwards: bool,
    ):  # fmt: skip
        before, _, after = signature.partition("->")
        self.name, self.signature, self.attrs = name, signature, attrs
        self.inputs: list[Argument] = arguments(before)
        self.outputs: list[Argument] = arguments(after)
        self.stateful, self.touches, self.less, self.forwards = stateful, touches, less, forwards
        self.kernel: Callable[..., Any] | None = None

    def __call__(self, kernel: Callable[..., Any]) -> NodeRow:
        """Decorate the kernel."""
        self.kernel = kernel
        return self

    def is_list(self, argument: Argument) -> bool:
        """Whether an input or output is a list."""
        return bool(argument.times) or self.attrs.get(argument.type, Kind(0)).elements == type_list.elements

    def sizes(self, attrs: Mapping[str, Any]) -> list[int]:
        """How many tensors each input is, where attrs have these values."""
        return [
            int(attrs[a.times]) if a.times else len(attrs[a.type]) if self.is_list(a) else 1 for a in self.inputs
        ]

    def grouped(self, attrs: Mapping[str, Any], values: Sequence[Any]) -> list[list[Any]]:
        """The tensors of each input."""
        rest = iter(values)
        return [[next(rest) for _ in range(size)] for size in self.sizes(attrs)]

    def also(self, name: str, without: tuple[str, ...] = ("metadata",)) -> NodeRow:
        """The row of an earlier op that is the same under another name, and lacks some attrs.

        Its kernel is that of this row, which is decorated already.
        """
        attrs = {key: kind for key, kind in self.attrs.items() if key not in without}
        made = node(name, self.signature, attrs, self.stateful, self.touches, self.less, self.forwards)
        made.kernel, made.flattens = self.kernel, self.flattens
        return made


def node(
    name: str, signature: str, attrs: Mapping[str, Any] | None = None, stateful: bool = False, touches: str = "",
    less: tuple[str, tuple[str, ...], str] | None = None, forwards: bool = False,
) -> NodeRow:  # fmt: skip
    """Make the row of a node; a kernel that it decorates runs it. See `NodeRow`."""
    kinds = {key: _kind(value) for key, value in (attrs or {}).items()}
    row = NODES[name] = NodeRow(name, signature, kinds, stateful, touches, less, forwards)
    return row


def register_source(load: Callable[[], object]) -> None:
    """Say what loads rows of a package above this one, when a name is looked up that is not known yet."""
    _sources.append(load)


def load_all() -> None:
    """Load the rows of all packages."""
    while _sources:
        _sources.pop()()


def runs(name: str) -> bool:
    """Whether nodes of this name run on the host."""
    return name in NODES and NODES[name].kernel is not None


def find(name: str) -> NodeRow | None:
    """The row of a node, or None if there is no such op."""
    row = NODES.get(name)
    if row is None and _sources:
        load_all()
        row = NODES.get(name)
    return row
