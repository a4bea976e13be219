"""On which task of a cluster each node runs.

A node runs where its device says, in parts completed by the task of the master. Nodes that share a handle run where
what is behind it is made; those of one colocation group run where the group's first one does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster.nodes import Nodes
from tapeflow.cluster.tasks import Task, full_device, parsed
from tapeflow.core import dtypes
from tapeflow.core.device import DeviceSpec
from tapeflow.core.errors import InvalidArgumentError

_COLOCATED = b"loc:@"


class Placer:
    """Places nodes.

    Args:
      tasks: those that the session may use, sorted.
      devices: the full names of all their devices.
      own: the task of the master.
      soft: whether the host of a task stands in for a device that it has not.
    """

    def __init__(self, tasks: Sequence[Task], devices: Sequence[str], own: Task, soft: bool):
        self._tasks, self._own, self._soft = tasks, own, soft
        self._devices = {(spec.job, spec.task, spec.device_type, spec.device_index) for spec in map(parsed, devices)}
        self._names = devices
        self._known: dict[str, Task] = {}

    def place(self, nodes: Nodes, names: Iterable[str]) -> dict[str, Task]:
        """The task of each of some nodes.

        Raises InvalidArgumentError for a device that the cluster has not, and for handles that nodes would take from
        several tasks.
        """
        groups = _Groups(names)
        _join(nodes, groups)
        found: dict[str, Task] = {}
        for members in groups.all():
            makers = [name for name in members if groups.makes(name)]
            named = {name: self._task(nodes.by_name[name]) for name in members if nodes.by_name[name].device}
            makes = {task: name for name in makers if (task := named.get(name)) is not None}
            if len(makes) > 1:
                raise _conflict(nodes, makes)
            root = next((name for name in groups.roots(members) if name in named), None)
            task = next(iter(makes), None) or (named[root] if root else next(iter(named.values()), self._own))
            found.update(dict.fromkeys(members, task))
        return found

    def log(self, nodes: Nodes, placed: Mapping[str, Task]) -> None:
        """Write to stderr where nodes run: their name, type and device."""
        for name, task in placed.items():
            node = nodes.by_name[name]
            sys.stderr.write(f"{name}: ({node.op}): {full_device(node.device, task)}\n")

    def _task(self, node: protos.NodeDef) -> Task:
        known = self._known.get(node.device)
        if known is None:
            known = self._known[node.device] = self._find(node, parsed(node.device))
        return known

    def _find(self, node: protos.NodeDef, spec: DeviceSpec) -> Task:
        job = self._own.job if spec.job is None else spec.job
        wanted = [task for task in self._tasks if task.job == job and spec.replica in (None, 0)]
        if spec.task is None and self._own in wanted:
            wanted = [self._own]
        elif spec.task is not None:
            wanted = [task for task in wanted if task.number == spec.task]
        if spec.job in (None, "localhost") and spec.task is None and not wanted:
            wanted = [self._own]  # the name of the only task where there is no cluster
        kind = spec.device_type
        for task in wanted:
            if kind in (None, "CPU") or self._soft or (*task, kind, spec.device_index or 0) in self._devices:
                return task
        raise InvalidArgumentError(
            node, None,
            f"Cannot assign a device for operation {node.name}: {{{{node {node.name}}}}} was explicitly assigned to "
            f"{node.device} but available devices are [ {', '.join(self._names)} ]. Make sure the device specification "
            "refers to a valid device.",
        )  # fmt: skip


class _Groups:
    """Sets of nodes that run on one task."""

    def __init__(self, names: Iterable[str]):
        self._parents = {name: name for name in names}
        self._makers: set[str] = set()
        self._roots: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._parents

    def find(self, name: str) -> str:
        while self._parents[name] != name:
            self._parents[name] = name = self._parents[self._parents[name]]
        return name

    def join(self, first: str, second: str) -> None:
        self._parents[self.find(second)] = self.find(first)

    def note_maker(self, name: str) -> None:
        """Remember that a node makes what is behind a handle."""
        self._makers.add(name)

    def makes(self, name: str) -> bool:
        return name in self._makers

    def note_root(self, name: str) -> None:
        """Remember that others want to be where a node is."""
        self._roots.append(name)

    def roots(self, members: Sequence[str]) -> list[str]:
        """The nodes among some where others want to be."""
        inside = set(members)
        return [name for name in self._roots if name in inside]

    def all(self) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._parents:
            found.setdefault(self.find(name), []).append(name)
        return list(found.values())


def _join(nodes: Nodes, groups: _Groups) -> None:
    for name in list(groups._parents):
        node = nodes.by_name[name]
        handles = [
            source for source, number in nodes.inputs(name)
            if number >= 0 and source in groups and _stays(nodes.type_of(source, number))
        ]  # fmt: skip
        for source in handles:
            groups.join(source, name)
        if not handles and any(kind == dtypes.resource for kind in nodes.output_types(name)):
            groups.note_maker(name)
        for group in node.attr["_class"].list.s if "_class" in node.attr else ():
            other = group.removeprefix(_COLOCATED).decode(errors="replace")
            if group.startswith(_COLOCATED) and other in groups and other != name:
                groups.join(other, name)
                groups.note_root(other)


def _stays(kind: Any) -> bool:
    """Whether values of a dtype cannot leave their task."""
    return kind in (dtypes.resource, dtypes.variant)


def _conflict(nodes: Nodes, makes: dict[Task, str]) -> InvalidArgumentError:
    (first, one), (second, other) = list(makes.items())[:2]
    return InvalidArgumentError(
        nodes.by_name[other], None,
        "Cannot place the graph because a reference or resource edge connects colocation groups with incompatible "
        f"assigned devices: {first.device} vs {second.device}. The edge src node is {one} , and the dst node is "
        f"{other}",
    )  # fmt: skip
