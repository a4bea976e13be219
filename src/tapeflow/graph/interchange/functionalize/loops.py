"""Loops of 1.x as `While` nodes.

A frame is what runs again and again: the nodes between its `Enter` and `Exit` nodes. A variable of the loop goes from
`Enter` to `Merge` to `Switch`, which sends it to an `Exit`, or into the body, at whose end is a `NextIteration` back to
the `Merge`; an `Enter` without a `Merge` is a value that the loop does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tapeflow import protos
from tapeflow.graph.interchange.functionalize.bodies import Nodes, controls, data, refuse, source
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.state.rows import ReadVariableOp

_ENTERS = frozenset({"Enter", "RefEnter"})
_EXITS = frozenset({"Exit", "RefExit"})
_TURNS = frozenset({"NextIteration", "RefNextIteration"})
_MERGES = frozenset({"Merge", "RefMerge"})
_SWITCHES = frozenset({"Switch", "RefSwitch"})


def replace_loops(nodes: Nodes) -> None:
    """Puts a `While` node in the place of each frame. Raises UnimplementedError for frames that are no loops of 1.x."""
    if not any(node.op in _ENTERS | _EXITS | _TURNS for node in nodes.by_name.values()):
        return
    frames = _frames(nodes)
    for frame in sorted(frames, key=len, reverse=True):  # those inside of others first
        if frame:
            frames.setdefault(frame[:-1], []).extend(_Loop(nodes, frame, frames[frame]).replace())


def _frames(nodes: Nodes) -> dict[tuple[str, ...], list[str]]:
    """The nodes of each frame; a frame is the names of those that it is in, and its own. `Exit` is outside of it."""
    turns = {name for name, node in nodes.by_name.items() if node.op in _TURNS}
    followers: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for name, node in nodes.by_name.items():
        sources = {s for s in map(source, node.input) if s in nodes.by_name and not (node.op in _MERGES and s in turns)}
        waiting[name] = len(sources)
        for s in sources:
            followers.setdefault(s, []).append(name)
    of: dict[str, tuple[str, ...]] = {}
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        name = ready.pop()
        of[name] = _frame_of(nodes.by_name[name], of)
        for follower in followers.get(name, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    if len(of) < len(nodes.by_name):
        stuck = [name for name in nodes.by_name if name not in of]
        raise ValueError(f"{len(stuck)} nodes in a cycle: {', '.join(stuck[:5])}")
    found: dict[tuple[str, ...], list[str]] = {}
    for name in nodes.by_name:
        found.setdefault(of[name], []).append(name)
    return found


def _frame_of(node: protos.NodeDef, of: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    around = max((of[s] for s in map(source, node.input) if s in of), key=len, default=())
    if node.op in _ENTERS:
        return (*around, node.attr["frame_name"].s.decode(errors="replace"))
    if node.op in _EXITS:
        if not around:
            raise refuse(node, "is in no loop")
        return around[:-1]
    return around


@dataclass
class _Variable:
    """A value that a loop carries: the node names of its parts. `merge` is that of a value that changes.

    `others` are further `Enter` nodes of the same value, which does not change.
    """

    enter: str
    others: list[str] = field(default_factory=list)
    merge: str = ""
    switch: str = ""
    turn: str = ""


class _Loop:
    """One frame.

    Args:
      nodes: all nodes, in which the loop is replaced.
      frame: its name, after those of the frames that it is in.
      names: its nodes.
    """

    def __init__(self, nodes: Nodes, frame: tuple[str, ...], names: list[str]):
        self.nodes = nodes
        self.label = frame[-1]
        self.names = [name for name in names if name in nodes.by_name]
        self.inside = set(self.names)
        self.cond = self._condition()
        self.variables = self._variables()

    def _of_kind(self, kinds: Iterable[str]) -> list[Any]:
        return [self.nodes.by_name[name] for name in self.names if self.nodes.by_name[name].op in kinds]

    def _condition(self) -> Any:
        found = self._of_kind(["LoopCond"])
        if len(found) != 1:
            node = self.nodes.by_name[self.names[0]]
            raise refuse(node, f"is in the frame '{self.label}', which has {len(found)} LoopCond nodes instead of one")
        return found[0]

    def _variables(self) -> list[_Variable]:
        by_enter = {node.name: _Variable(node.name) for node in self._of_kind(_ENTERS)}
        by_merge: dict[str, _Variable] = {}
        for merge in self._of_kind(_MERGES):
            sources = [source(text) for text in data(merge)]
            turns = [s for s in sources if s in self.inside and self.nodes.by_name[s].op in _TURNS]
            if not turns:
                continue  # of a condition in the loop
            enters = [s for s in sources if s in by_enter]
            if len(sources) != 2 or len(enters) != 1 or by_enter[enters[0]].merge:
                raise refuse(merge, f"does not begin a variable of the loop '{self.label}'")
            variable = by_merge[merge.name] = by_enter[enters[0]]
            variable.merge, variable.turn = merge.name, turns[0]
        for switch in self._of_kind(_SWITCHES):
            value, pred = data(switch)[:2]
            if source(pred) == self.cond.name and source(value) in by_merge:
                by_merge[source(value)].switch = switch.name
        constant: dict[str, _Variable] = {}
        for v in by_enter.values():
            if not v.merge:
                first = constant.setdefault(data(self.nodes.by_name[v.enter])[0], v)
                first.others += [v.enter] if v is not first else []
        return [*by_merge.values(), *constant.values()]

    def replace(self) -> list[str]:
        """Puts a `While` node in the place of the frame; the names of what is outside of it now."""
        nodes = self.nodes
        enters = [nodes.by_name[v.enter] for v in self.variables]
        inputs = [data(enter)[0] for enter in enters]
        kinds = [nodes.dtype(text) for text in inputs]
        exits = {
            node.name: (data(node)[0], nodes.dtype(data(node)[0]))
            for node in nodes.by_name.values()
            if node.op in _EXITS and source(node.input[0]) in self.inside
        }
        leaving = self._leaving()
        functions = self._functions(kinds, leaving)
        waits = {name for each in self.names for name in controls(nodes.by_name[each]) if name not in self.inside}
        outside = zip(self.variables, inputs, strict=True)
        after = nodes.subset(leaving, {f"{name}:0": text for v, text in outside for name in (v.enter, *v.others)})
        for name in self.names:
            del nodes.by_name[name]
        loop = nodes.add(nodes.free_name(f"{self.label}/While"), "While", inputs, sorted(waits), enters[0])
        loop.attr["T"].list.type.extend(kinds)
        loop.attr["cond"].func.name, loop.attr["body"].func.name = functions
        results = {f"{v.switch}:0": f"{loop.name}:{i}" for i, v in enumerate(self.variables) if v.switch}
        for name, node in after.by_name.items():
            nodes.set_inputs(node, [results.get(text, text) for text in data(node)], [*controls(node), loop.name])
            nodes.by_name[name] = node
        for name, (text, dtype) in exits.items():
            if text not in results and source(text) not in after.by_name:
                raise refuse(nodes.by_name[name], f"leaves the loop '{self.label}' from its body")
            nodes.identity(name, results.get(text, text), dtype, loop)
        return [loop.name, *leaving]

    def _functions(self, kinds: list[int], leaving: list[str]) -> tuple[str, str]:
        """The names of the condition's and the body's function, for arguments of some dtypes."""
        nodes = self.nodes
        parts = {self.cond.name, *leaving}
        for v in self.variables:
            parts |= {v.enter, *v.others, v.merge, v.switch, v.turn}
        own = [name for name in self.names if name not in parts]
        labels = [nodes.free_name(f"variable_{i}") for i in range(len(self.variables))]
        renamed: dict[str, str] = {}
        for label, v in zip(labels, self.variables, strict=True):
            renamed |= {f"{name}:0": f"{label}:0" for name in (v.merge or v.enter, *v.others)}
            if v.switch:
                renamed[f"{v.switch}:1"] = f"{label}:0"
        tested = data(self.cond)[0]
        testing = self._needed([tested], own)
        results = [data(nodes.by_name[v.turn])[0] if v.merge else f"{v.enter}:0" for v in self.variables]
        arguments = list(zip(labels, kinds, strict=True))

        def function(kind: str, members: list[str], wanted: list[str]) -> str:
            name = nodes.bodies.free_name(f"{self.label}_{kind}")
            wanted = [renamed.get(text, text) for text in wanted]
            nodes.bodies.add(name, nodes.subset(members, renamed), arguments, wanted)
            return name

        return (
            function("cond", testing, [tested]),
            function("body", self._in_body(results, own, testing), results),
        )

    def _leaving(self) -> list[str]:
        """The nodes that run when the loop ends, between `Switch` and `Exit`."""
        texts = {f"{v.switch}:0" for v in self.variables if v.switch}
        found: set[str] = set()
        count = -1
        while count < len(found):
            count = len(found)
            for name in self.names:
                inputs = data(self.nodes.by_name[name])
                if any(text in texts or source(text) in found for text in inputs):
                    found.add(name)
        return [name for name in self.names if name in found]

    def _needed(self, wanted: Iterable[str], own: Iterable[str]) -> list[str]:
        """Those nodes of the loop of which `wanted` needs the values or has to wait for."""
        inside = set(own)
        stack = [source(text) for text in wanted]
        found: set[str] = set()
        while stack:
            name = stack.pop()
            if name in inside and name not in found:
                found.add(name)
                stack += map(source, self.nodes.by_name[name].input)
        return [name for name in self.names if name in found]

    def _in_body(self, results: list[str], own: list[str], testing: list[str]) -> list[str]:
        """What the body needs, and all that it does without giving a value."""
        tested = set(testing)
        doing = [f"{name}:0" for name in own if name not in tested and _has_effects(self.nodes, name)]
        waited = [f"{name}:0" for v in self.variables if v.turn for name in controls(self.nodes.by_name[v.turn])]
        found = self._needed([*results, *doing, *waited], own)
        for name in found:
            node = self.nodes.by_name[name]
            if name in tested and _has_effects(self.nodes, name) and node.op != ReadVariableOp.name:
                raise refuse(node, "has effects, and both the condition and the body of a loop use it")
        return found


def _has_effects(nodes: Nodes, name: str) -> bool:
    node = nodes.by_name[name]
    signature = nodes.bodies.signatures.get(node.op)
    if signature is None:
        try:
            signature = op_defs.op_def(node.op)
        except KeyError:
            return True
    return bool(signature.is_stateful)
