"""Graphs that are not trusted: what their nodes may do, and how much their runs may use.

A GraphDef is a program. One that is not trusted is refused if any of its nodes touches files, other objects of the
process or Python, by what the definition of its op declares; its functions then run under limits.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core.errors import NotFoundError, PermissionDeniedError
from tapeflow.core.public import public
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.state.resource_op import row_of
from tapeflow.ops.table import REGISTRY


@public
class Limits(NamedTuple):
    """What each call of a graph that is not trusted may use.

    Args:
      steps: how many instructions it may run, those in functions and loops counted each time; each element of a
        dataset is one more.
      memory: how many bytes its tensors may take beyond those that were there when it began.

    A call that needs more raises `tf.errors.ResourceExhaustedError`.
    """

    steps: int = 10_000_000
    memory: int = 4 << 30


def narrower(first: Limits | None, second: Limits | None) -> Limits | None:
    """The limits of a graph that has nodes of both."""
    if first is None or second is None:
        return first or second
    return Limits(*map(min, first, second))


class _Policy(threading.local):
    """The limits of graphs that are imported now in this thread; None: graphs are trusted."""

    limits: Any = ...


_default: Limits | None = None
_policy = _Policy()


def set_default(limits: Limits | None) -> None:
    """Sets what holds for graphs for which the program does not say whether they are trusted; None: they are."""
    global _default
    _default = limits


def current() -> Limits | None:
    """The limits of a graph that is imported now; None if it is trusted."""
    return _default if _policy.limits is ... else _policy.limits


@contextlib.contextmanager
def loading(trusted: bool | None, limits: Limits | None = None) -> Iterator[None]:
    """Says whether graphs that are imported within are trusted; None: by default.

    Raises ValueError for limits of what is trusted, and for limits that are not positive.
    """
    if limits is not None and trusted:
        raise ValueError("`limits` are those of a model that is not trusted: pass trusted=False")
    if limits is not None and min(limits) <= 0:
        raise ValueError(f"Limits are positive, got {limits}")
    before = _policy.limits
    if trusted is not None:
        _policy.limits = None if trusted else limits or _default or Limits()
    elif limits is not None:
        _policy.limits = limits if current() is not None else None
    try:
        yield
    finally:
        _policy.limits = before


# What nodes do.


class Checked:
    """The functions of a library of which all nodes were found to be harmless, by what of their arguments are files.

    Args:
      functions: `FunctionDef`s by name.
    """

    def __init__(self, functions: Mapping[str, Any]):
        self._functions = functions
        self._seen: set[tuple[str, frozenset[int]]] = set()

    def function(self, name: str, files: Iterable[int] = ()) -> None:
        """Checks a function and all that it calls.

        Args:
          files: the numbers of its arguments that are paths of the model's own files.

        Raises PermissionDeniedError for a node that may not be in it.
        """
        todo = [(name, frozenset(files))]
        while todo:
            current = todo.pop()
            if current in self._seen or current[0] not in self._functions:
                continue
            self._seen.add(current)
            definition = self._functions[current[0]]
            arguments = definition.signature.input_arg
            paths = {arguments[i].name for i in current[1] if i < len(arguments)}
            todo += self._nodes(definition.node_def, paths, f" of function '{current[0]}'")

    def once(self, name: str) -> None:
        """Checks a function that was not checked yet."""
        if all(name != seen for seen, _ in self._seen):
            self.function(name)

    def graph(self, nodes: Sequence[Any], paths: Iterable[str] = ()) -> None:
        """Checks the nodes of a graph, and the functions that they call.

        Args:
          paths: the tensors that are paths of the model's own files.

        Raises PermissionDeniedError for a node that may not be in it.
        """
        for name, files in self._nodes(nodes, set(paths), ""):
            self.function(name, files)

    def _nodes(
        self, nodes: Sequence[Any], paths: set[str], where: str
    ) -> list[tuple[str, frozenset[int]]]:
        """Checks nodes; returns the functions that they name, with the arguments that are paths."""
        load_all_rows()
        paths = {_tensor(path) for path in paths}
        called = []
        for node in nodes:
            inputs = [_tensor(text) for text in node.input if not text.startswith("^")]
            files = frozenset(i for i, name in enumerate(inputs) if name in paths)
            if node.op in self._functions:
                called.append((node.op, files))
            else:
                _check(node, files, where)
            direct = op_defs.is_call(node.op)
            for attr in node.attr.values():
                for each in (attr.func, *attr.list.func):
                    called.append((each.name, files if direct else frozenset()))
        return called


def _tensor(text: str) -> str:
    """The node, or the argument of a function, whose first output an input is; else the input as it is written."""
    name, _, rest = text.partition(":")
    number = rest.rpartition(":")[2]
    return name if number in ("", "0") else text


def _check(node: protos.NodeDef, files: frozenset[int], where: str) -> None:
    if not op_defs.known(node.op):
        raise NotFoundError(
            node, None, f"Op type not registered '{node.op}' in the op table (node '{node.name}'{where})"
        )
    touched = op_defs.touches_of(node)
    if touched == "files" and _reads_only(node, files):
        return
    row = row_of(node.op)
    waits = row is not None and row.patience > 0
    if touched in ("", "streams") and not waits:
        return
    what = f"touches {touched}" if touched not in ("", "streams") else "may wait for ever"
    raise PermissionDeniedError(
        node, None,
        f"Node '{node.name}' ({node.op}){where} {what}, which a graph that is not trusted may not. "
        "If you trust where it comes from, load it with trusted=True.",
    )  # fmt: skip


def _reads_only(node: protos.NodeDef, files: frozenset[int]) -> bool:
    """Whether all that a node does with files is to read one of the model's own."""
    row = REGISTRY.get(node.op)
    return row is not None and bool(row.reads) and row.inputs.index(row.reads) in files


# Graphs of 1.x.

_SAVERS = "savers"


def without_savers(meta: Any) -> Any:
    """A copy of a `MetaGraphDef` without the nodes that save and restore its variables, which touch files.

    Whoever imports it makes others.
    """
    made = protos.MetaGraphDef()
    made.CopyFrom(meta)
    definitions = [made.saver_def] if made.HasField("saver_def") else []
    if _SAVERS in made.collection_def:
        data = made.collection_def[_SAVERS].bytes_list.value
        definitions += [protos.SaverDef.FromString(each) for each in data]
    made.ClearField("saver_def")
    made.collection_def.pop(_SAVERS, None)
    ends = [name for each in definitions for name in (each.save_tensor_name, each.restore_op_name)]
    nodes = {node.name: node for node in made.graph_def.node}
    checked = Checked({f.signature.name: f for f in made.graph_def.library.function})
    gone = {name for name in _needed(nodes, ends) if not _is_harmless(checked, nodes[name])}
    kept = list(made.graph_def.node)
    while True:
        left = [node for node in kept if node.name not in gone and not gone.intersection(_sources(node))]
        if len(left) == len(kept):
            break
        gone |= nodes.keys() - {node.name for node in left}
        kept = left
    copies = [protos.NodeDef.FromString(node.SerializeToString()) for node in kept]
    del made.graph_def.node[:]
    made.graph_def.node.extend(copies)
    return made


def _sources(node: protos.NodeDef) -> list[str]:
    return [text.removeprefix("^").partition(":")[0] for text in node.input]


def _needed(nodes: Mapping[str, Any], ends: Iterable[str]) -> set[str]:
    """The names of nodes, and of all that they need."""
    found: set[str] = set()
    todo = [name.partition(":")[0] for name in ends]
    while todo:
        name = todo.pop()
        if name in nodes and name not in found:
            found.add(name)
            todo += _sources(nodes[name])
    return found


def _is_harmless(checked: Checked, node: protos.NodeDef) -> bool:
    try:
        checked.graph([node])
    except PermissionDeniedError:
        return False
    except NotFoundError:  # the import tells, of what reference variables have become
        return True
    return True
