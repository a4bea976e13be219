"""Cuts a graph at the borders of the tasks: what crosses one is sent by one part and received by another.

All parts keep one order of all nodes: whatever was not run and comes first in it can run, so that parts that run their
nodes one after the other never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster.nodes import Nodes
from tapeflow.cluster.rendezvous import Key
from tapeflow.cluster.tasks import Task, full_device
from tapeflow.cluster.transfer import RECEIVE, SEND
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError

Tensor = tuple[str, int]
_CONTROL = -1
_CLASS = "_class"  # says where a node is to be placed, which is known now


class Part:
    """The part of a graph that one task runs.

    Attributes:
      feeds, fetches: the keys of the tensors that the master gives and takes, by the names of the tensors.
    """

    def __init__(self, task: Task):
        self.task = task
        self.graph_def = protos.GraphDef()
        self.feeds: dict[str, str] = {}
        self.fetches: dict[str, str] = {}
        self._local: dict[Tensor, str] = {}  # what stands for tensors of other tasks and for what is fed

    def text(self, tensor: Tensor) -> str:
        """How nodes of this part name a tensor."""
        known = self._local.get(tensor)
        name, number = tensor
        if number == _CONTROL:
            return f"^{known or name}"
        return known or (f"{name}:{number}" if number else name)

    def knows(self, tensor: Tensor) -> bool:
        """Whether the part has something that stands for a tensor of another task."""
        return tensor in self._local

    def let(self, tensor: Tensor, name: str) -> None:
        """Let a node of this part stand for a tensor."""
        self._local[tensor] = name


class Partitioner:
    """Makes the parts of a graph for one set of fetches, targets and feeds.

    Args:
      nodes: the graph.
      placed: the task of each node that is needed.
      incarnations: the number of the process of each task.
    """

    def __init__(self, nodes: Nodes, placed: Mapping[str, Task], incarnations: Mapping[Task, int]):
        self._nodes, self._placed, self._incarnations = nodes, placed, incarnations
        self._parts: dict[Task, Part] = {}
        self._names = set(nodes.by_name)
        self._fed: set[Tensor] = set()

    def run(self, order: Sequence[str], feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> list[Part]:
        """The parts.

        Args:
          order: the nodes that are needed, in their order.

        Raises InvalidArgumentError for a tensor that cannot leave its task.
        """
        self._fed = fed = set(feeds)
        takers = self._takers(order, fed)
        for tensor in feeds:
            if tensor in takers:
                self._feed(tensor)
                self._send_on(tensor, takers)
        wanted = set(fetches) - fed
        for name in order:
            part = self._part(self._placed[name])
            if not self._nodes.is_fed(name, fed):
                self._add(part, name, fed)
            self._send_on((name, _CONTROL), takers)
            for number in range(len(self._nodes.output_types(name))):
                if (name, number) not in fed:
                    self._send_on((name, number), takers)
                if (name, number) in wanted:
                    self._fetch(part, (name, number))
        parts = list(self._parts.values())
        for part in parts:
            names = [node.name for node in part.graph_def.node if node.name in self._nodes.by_name]
            part.graph_def.versions.CopyFrom(self._nodes.graph_def.versions)
            part.graph_def.library.function.extend(self._nodes.library_of(names))
        return parts

    def _takers(self, order: Sequence[str], fed: set[Tensor]) -> dict[Tensor, list[Task]]:
        """The tasks whose nodes take a tensor, or wait for a node, that is not theirs or is fed."""
        found: dict[Tensor, dict[Task, None]] = {}
        for name in order:
            task = self._placed[name]
            for tensor in self._nodes.inputs(name):
                if tensor[1] == _CONTROL and self._nodes.is_fed(tensor[0], fed):
                    continue
                if tensor in fed or self._placed[tensor[0]] != task:
                    found.setdefault(tensor, {})[task] = None
        return {tensor: list(tasks) for tensor, tasks in found.items()}

    def _part(self, task: Task) -> Part:
        if task not in self._parts:
            self._parts[task] = Part(task)
        return self._parts[task]

    def _add(self, part: Part, name: str, fed: set[Tensor]) -> None:
        inputs = []
        for tensor in self._nodes.inputs(name):
            source, number = tensor
            if number == _CONTROL and self._nodes.is_fed(source, fed):
                continue
            if self._placed[source] != part.task:
                self._receive(part, tensor)
            inputs.append(part.text(tensor))
        node = part.graph_def.node.add()
        node.CopyFrom(self._nodes.by_name[name])
        node.device = full_device(node.device, part.task)
        del node.input[:]
        node.input.extend(inputs)
        if _CLASS in node.attr:
            del node.attr[_CLASS]

    def _new_name(self, base: str) -> str:
        name, count = base, 0
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def _key(self, tensor: Tensor, source: Task, target: Task) -> Key:
        name = f"^{tensor[0]}" if tensor[1] == _CONTROL else f"{tensor[0]}:{tensor[1]}"
        return Key(source.device, self._incarnations[source], target.device, name)

    def _transfer(self, part: Part, kind: str, key: Key, dtype: DType, name: str, input_text: str, client: bool) -> Any:
        node = part.graph_def.node.add(name=self._new_name(name), op=kind, device=part.task.device)
        node.attr["T" if kind == SEND else "tensor_type"].type = dtype.as_datatype_enum
        node.attr["tensor_name"].s = key.name.encode()
        node.attr["send_device"].s, node.attr["recv_device"].s = key.source.encode(), key.target.encode()
        # TensorFlow's numbers have 64 bits without a sign, attrs have one.
        node.attr["send_device_incarnation"].i = (key.incarnation ^ 1 << 63) - (1 << 63)
        node.attr["client_terminated"].b = client
        if input_text:
            node.input.append(input_text)
        return node

    def _feed(self, tensor: Tensor) -> None:
        name, number = tensor
        part = self._part(self._placed[name])
        key = self._key(tensor, part.task, part.task)
        kind = self._nodes.type_of(name, number)
        node = self._transfer(part, RECEIVE, key, kind, f"{name}/_fed_{number}", "", True)
        part.let(tensor, node.name)
        part.feeds[f"{name}:{number}"] = str(key)

    def _fetch(self, part: Part, tensor: Tensor) -> None:
        name, number = tensor
        kind = self._nodes.type_of(name, number)
        _check_movable(kind, tensor, "fetched by a client of another process")
        key = self._key(tensor, part.task, part.task)
        self._transfer(part, SEND, key, kind, f"{name}/_fetched_{number}", part.text(tensor), True)
        part.fetches[f"{name}:{number}"] = str(key)

    def _send_on(self, tensor: Tensor, takers: Mapping[Tensor, Sequence[Task]]) -> None:
        """Send a tensor to all other tasks that take it."""
        name, number = tensor
        source = self._part(self._placed[name])
        for task in takers.get(tensor, ()):
            if task == source.task or self._is_copied(tensor):
                continue
            key, text = self._key(tensor, source.task, task), source.text(tensor)
            if number == _CONTROL:
                kind = dtypes.float32
                text = _token(source, self._new_name(f"{name}/_token"), text)
            else:
                kind = self._nodes.type_of(name, number)
                _check_movable(kind, tensor, f"used on {task}")
            self._transfer(source, SEND, key, kind, f"{name}/_send_{max(number, 0)}", text, False)

    def _is_copied(self, tensor: Tensor) -> bool:
        """Whether a tensor is a constant, which each part has for itself."""
        node = self._nodes.by_name[tensor[0]]
        return node.op == "Const" and not node.input and (tensor[0], 0) not in self._fed

    def _receive(self, part: Part, tensor: Tensor) -> None:
        """Let a part have a tensor of another task."""
        if part.knows(tensor):
            return
        name, number = tensor
        if self._is_copied(tensor):
            node = part.graph_def.node.add()
            node.CopyFrom(self._nodes.by_name[name])
            node.name, node.device = self._new_name(f"{name}/_copy"), part.task.device
            if _CLASS in node.attr:
                del node.attr[_CLASS]
            part.let((name, 0), node.name)
            part.let((name, _CONTROL), node.name)
            return
        kind = dtypes.float32 if number == _CONTROL else self._nodes.type_of(name, number)
        key = self._key(tensor, self._placed[name], part.task)
        node = self._transfer(part, RECEIVE, key, kind, f"{name}/_recv_{max(number, 0)}", "", False)
        part.let(tensor, node.name)


def _token(part: Part, name: str, after: str) -> str:
    """A constant that tells that a node has run."""
    node = part.graph_def.node.add(name=name, op="Const", device=part.task.device)
    node.attr["dtype"].type = dtypes.float32.as_datatype_enum
    value = node.attr["value"].tensor
    value.dtype = dtypes.float32.as_datatype_enum
    value.tensor_shape.dim.add(size=0)
    node.input.append(after)
    return name


def _check_movable(kind: DType, tensor: Tensor, how: str) -> None:
    if kind in (dtypes.resource, dtypes.variant):
        raise InvalidArgumentError(
            None, None,
            f"Tensor {tensor[0]}:{tensor[1]} of type {kind.name} is {how}; it cannot leave its task. Place the nodes "
            "that take it on the task of the node that makes it.",
        )  # fmt: skip
