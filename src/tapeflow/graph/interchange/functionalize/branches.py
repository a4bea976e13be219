"""Conditions of 1.x as `If` nodes.

A `Switch` sends a value to one of its two outputs, as a predicate says; what has no value does not run, and a `Merge`
gives the value of that input which has one. So each node runs in a case: what predicates must be for it to run.
Connected nodes whose case names the same predicate first become the branches of one `If`, unless a path leads from one
of them to another through a `Merge`, as it does from a condition to its gradient: then of several, one after the other.
Values that a later one needs are results of the earlier one; in the branch that does not compute them they are empty.

A node in a branch that no other uses keeps its name: without outputs, it waits for the `If`; else it is an output, and
reading it when its branch did not run is an error, as in TensorFlow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.graph.interchange.functionalize.bodies import (
    Nodes,
    controls,
    data,
    plain,
    refuse,
    source,
)
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.math.logic import LogicalNot

_SWITCHES = frozenset({"Switch", "RefSwitch"})
_MERGES = frozenset({"Merge", "RefMerge"})
_BOOL = dtypes.bool.as_datatype_enum
_INT32 = dtypes.int32.as_datatype_enum
# What predicates (references to them) must be for a node to run.
_Case = dict[str, bool]


def replace_branches(nodes: Nodes, results: Sequence[str] = ()) -> list[str]:
    """Puts `If` nodes in the place of conditions.

    Args:
      results: references to what the nodes are to give.

    Returns:
      References to the same after that.

    Raises:
      UnimplementedError: for what is no condition as 1.x built them.
    """
    if not any(node.op in _SWITCHES | _MERGES for node in nodes.by_name.values()):
        return list(results)
    return _Branches(nodes).replace(results)


class _Branches:
    """The conditions among some nodes, without those inside of other conditions.

    Attributes:
      cases: of each node.
      turns: of each node, how many conditions end before it on the path to it that has most.
      entries: the `Switch` nodes that begin a condition, and identities of their outputs, with what they send into it.
      preds: the predicates of `Switch` nodes.
      ends: the `Merge` nodes that end a condition: its predicate.
      ranks: the predicates in the order in which nodes come to depend on them, those around others first.
      users: the nodes that name each node.
    """

    def __init__(self, nodes: Nodes):
        self.nodes = nodes
        for merge in [node for node in nodes.by_name.values() if node.op in _MERGES and len(data(node)) == 1]:
            _as_identity(nodes, merge)
        self.order = nodes.order()
        self.cases: dict[str, _Case] = {}
        self.turns: dict[str, int] = {}
        self.entries: dict[str, str] = {}
        self.preds: dict[str, str] = {}
        self.ends: dict[str, str] = {}
        self.ranks: dict[str, int] = {}
        self._same: dict[str, str] = {}
        for name in self.order:
            self._visit(nodes.by_name[name])

    # Where each node belongs.

    def _visit(self, node: protos.NodeDef) -> None:
        if node.op == Identity.name:
            self._same[f"{node.name}:0"] = self._root(data(node)[0])
        case: _Case = {}
        if node.op in _MERGES:
            case = self._merged(node)
        elif node.op == "ControlTrigger":
            case = self._triggered(node)
        else:
            for text in node.input:
                self._join(node, case, self.case_of(plain(text)))
        self.cases[node.name] = case
        first = self._first(case)
        if node.op in _SWITCHES:
            pred = self.preds[node.name] = self._root(data(node)[1])
            self.nodes.set_inputs(node, [data(node)[0], pred], controls(node))
            self.ranks.setdefault(pred, len(self.ranks))
            if first is None:
                self.entries[node.name] = data(node)[0]
        elif node.op == Identity.name and source(node.input[0]) in self.entries:
            self.entries[node.name] = self.entries[source(node.input[0])]
        self.turns[node.name] = max((self._turns_before(text, case) for text in node.input), default=0)

    def _root(self, text: str) -> str:
        return self._same.get(text, text)

    def _first(self, case: _Case) -> str | None:
        """The outermost predicate of a case."""
        return min(case, key=self.ranks.__getitem__, default=None)

    def case_of(self, text: str) -> _Case:
        """The case in which a reference has a value."""
        name = source(text)
        case = self.cases.get(name, {})
        if name in self.preds and not text.startswith("^"):
            return {**case, self.preds[name]: text.endswith(":1")}
        return case

    def _join(self, node: protos.NodeDef, case: _Case, other: _Case) -> None:
        for pred, value in other.items():
            if case.setdefault(pred, value) != value:
                raise refuse(node, f"needs values of both branches of the condition on '{pred}'")

    def _merged(self, node: protos.NodeDef) -> _Case:
        inputs = [self.case_of(text) for text in data(node)]
        if len(inputs) != 2:
            raise refuse(node, f"has {len(inputs)} inputs instead of two")
        preds = [p for p in inputs[0] if p in inputs[1] and inputs[0][p] != inputs[1][p]]
        if len(preds) != 1:
            raise refuse(node, "does not end one condition")
        pred = preds[0]
        case: _Case = {}
        for other in (*inputs, *(self.cases.get(name, {}) for name in controls(node))):
            self._join(node, case, {p: value for p, value in other.items() if p != pred})
        if not case:
            self.ends[node.name] = pred
        return case

    def _triggered(self, node: protos.NodeDef) -> _Case:
        """A `ControlTrigger` runs whether or not what it waits for did."""
        cases = [self.cases.get(name, {}) for name in controls(node)]
        return {p: value for p, value in cases[0].items() if all(c.get(p) is value for c in cases)} if cases else {}

    def _turns_before(self, text: str, case: _Case) -> int:
        name = source(text)
        ends = name in self.ends or (not case and name not in self.entries and bool(self.cases.get(name)))
        return self.turns.get(name, 0) + ends

    # The new nodes.

    def replace(self, results: Sequence[str]) -> list[str]:
        self.results = list(results)
        clusters: dict[tuple[int, str], list[str]] = defaultdict(list)
        for name in self.order:
            pred = self.ends.get(name) or self._first(self.cases[name])
            if pred is not None and name not in self.entries:
                clusters[self.turns[name], pred].append(name)
        self._switch_again(clusters)
        self.users: dict[str, list[str]] = defaultdict(list)
        for node in self.nodes.by_name.values():
            for text in node.input:
                self.users[source(text)].append(node.name)
        moved: dict[str, str] = {}
        added = []
        for turn, pred in sorted(clusters, key=lambda key: (key[0], self.ranks[key[1]])):
            for names in self._connected(clusters[turn, pred]):
                added.append(_If(self, pred, names, moved))
        for each in added:
            each.finish()
        stand_ins = {name: source(text) for name, text in self.entries.items()}
        stand_ins |= {name: each.name for each in added for name in each.members if name not in each.left}
        for name in self.entries:
            del self.nodes.by_name[name]
        for node in self.nodes.by_name.values():
            waits = [stand_ins.get(name, name) for name in controls(node)]
            if waits:
                self.nodes.set_inputs(node, data(node), waits)
        return [self.entries.get(source(text), moved.get(text, text)) for text in results]

    def _switch_again(self, clusters: dict[tuple[int, str], list[str]]) -> None:
        """Puts `Switch` nodes where a value that depends on more than the outermost condition goes to another cluster.

        It goes there as a result of an `If`, which has a value in any case.
        """
        of = {name: key for key, names in clusters.items() for name in names}
        for key, names in clusters.items():
            arriving: dict[str, str] = {}
            for name in list(names):
                node, made = self.nodes.by_name[name], len(arriving)
                texts = [self._arrival(text, key, of, arriving) for text in data(node)]
                self.nodes.set_inputs(node, texts, controls(node))
                added = [source(text) for text in list(arriving.values())[made:]]
                names[names.index(name) : names.index(name)] = added
                if added:
                    self.order[self.order.index(name) : self.order.index(name)] = added

    def _arrival(
        self, text: str, key: tuple[int, str], of: dict[str, tuple[int, str]], arriving: dict[str, str]
    ) -> str:
        """The output of the last of the `Switch` nodes through which `text` comes to a cluster; added to `arriving`."""
        turn, first = key
        case = dict(self.case_of(text))
        if source(text) in self.ends or of.get(source(text), key) == key or first not in case:
            return text
        before = {first: case.pop(first)}
        label = text
        for pred in sorted(case, key=self.ranks.__getitem__):
            label = f"{label}?{pred}"
            if label not in arriving:
                decides = self._arrival(pred, key, of, arriving)
                switch = self.nodes.add(self.nodes.free_name(f"{source(text)}/again"), "Switch", [text, decides])
                switch.attr["T"].type = self.nodes.dtype(text)
                self.cases[switch.name], self.turns[switch.name] = dict(before), turn
                self.preds[switch.name] = pred
                arriving[label] = f"{switch.name}:{int(case[pred])}"
            before[pred] = case[pred]
            text = arriving[label]
        return text

    def _connected(self, names: list[str]) -> list[list[str]]:
        """The nodes in groups: those that are linked by inputs are in one."""
        group = {name: [name] for name in names}
        for name in names:
            for other in map(source, self.nodes.by_name[name].input):
                if other in group and group[other] is not group[name]:
                    small, large = sorted((group[other], group[name]), key=len)
                    large += small
                    group.update(dict.fromkeys(small, large))
        whole = {id(each): set(each) for each in group.values()}
        return [[name for name in names if name in each] for each in whole.values()]


class _If:
    """One `If` node, added when it is made; `finish` removes the nodes that it stands for.

    Args:
      whole: all conditions.
      pred: a reference to its predicate.
      names: the nodes of its branches, and those that end it.
      moved: outputs of such nodes, by the references to what they became. Added to.
    """

    def __init__(self, whole: _Branches, pred: str, names: list[str], moved: dict[str, str]):
        self.whole, self.nodes = whole, whole.nodes
        self.pred = pred
        self.ends = [name for name in names if name in whole.ends]
        self.members = [name for name in names if name not in whole.ends]
        self.inside = set(self.members)
        self.moved = moved
        nodes = self.nodes
        for name in self.members:
            if whole.cases[name].get(pred) is None:
                raise refuse(nodes.by_name[name], f"is not in the condition on '{pred}' alone")
        texts = [data(nodes.by_name[name]) for name in self.members]
        texts += [data(nodes.by_name[name]) for name in self.ends]
        self.given = list(dict.fromkeys(map(self._given, (t for each in texts for t in each if not self._own(t)))))
        self.kinds = [nodes.dtype(text) for text in self.given]
        self.labels = [nodes.free_name(f"given_{i}") for i in range(len(self.given))]
        self.left = [name for name in self.members if not whole.users[name]] if nodes.are_graph else []
        self.kept = self._kept()
        self._add()

    def _own(self, text: str) -> bool:
        return source(text) in self.inside

    def _given(self, text: str) -> str:
        """The reference outside to a value that a node of a branch takes."""
        name = source(text)
        outer = self.whole.entries.get(name, text)
        if outer in self.moved:
            return self.moved[outer]
        if self.whole.cases.get(source(outer)) and source(outer) not in self.whole.ends:
            raise refuse(self.nodes.by_name[source(outer)], "is in two conditions, neither of which is in the other")
        return outer

    def _kept(self) -> list[str]:
        """The outputs of the branches' nodes that later conditions, or nobody, take."""
        nodes = self.nodes
        users = {user for name in self.members for user in self.whole.users[name]} - self.inside - set(self.ends)
        later = [text for user in sorted(users) for text in data(nodes.by_name[user]) if self._own(text)]
        later += filter(self._own, self.whole.results)
        left = [f"{name}:{i}" for name in self.left for i in range(len(nodes.outputs(nodes.by_name[name])))]
        return list(dict.fromkeys([*later, *left]))

    def _add(self) -> None:
        nodes, ends = self.nodes, [self.nodes.by_name[name] for name in self.ends]
        kinds = [nodes.dtype(f"{name}:0") for name in self.ends] + [_INT32] * len(self.ends)
        kinds += [nodes.dtype(text) for text in self.kept]
        functions = [self._function(value, ends) for value in (True, False)]
        waits = (other for name in (*self.members, *self.ends) for other in controls(nodes.by_name[name]))
        outer = [other for other in waits if other not in self.inside and other not in self.whole.entries]
        scope = source(self.pred).rpartition("/")[0]
        pred = self.moved.get(self.pred, self.pred)
        self.name = nodes.free_name(f"{scope}/If" if scope else "If")
        like = nodes.by_name[(self.members or self.ends)[0]]
        made = nodes.add(self.name, "If", [pred, *self.given], outer, like)
        made.attr["Tcond"].type = _BOOL
        made.attr["Tin"].list.type.extend(self.kinds)
        made.attr["Tout"].list.SetInParent()
        made.attr["Tout"].list.type.extend(kinds)
        made.attr["then_branch"].func.name, made.attr["else_branch"].func.name = functions
        for i, text in enumerate(self.kept, 2 * len(self.ends)):
            self.moved[text] = f"{self.name}:{i}"

    def _function(self, value: bool, ends: list[Any]) -> str:
        """The function of the branch that runs if the predicate is `value`; its name."""
        nodes, whole = self.nodes, self.whole
        label = dict(zip(self.given, (f"{name}:0" for name in self.labels), strict=True))
        members = [name for name in self.members if whole.cases[name][self.pred] is value]
        inputs = [text for name in (*members, *self.ends) for text in data(nodes.by_name[name]) if not self._own(text)]
        renamed = {text: label[self._given(text)] for text in inputs}
        body = nodes.subset(members, renamed)
        results, numbers = [], []
        for end in ends:
            inputs = data(end)
            place = next(i for i, text in enumerate(inputs) if whole.case_of(text)[self.pred] is value)
            results.append(renamed.get(inputs[place], inputs[place]))
            numbers.append(_constant(body, np.int32(place), f"{end.name}/index"))
        kept = [
            text if source(text) in body.by_name else self._absent(body, text, i) for i, text in enumerate(self.kept)
        ]
        name = nodes.bodies.free_name(f"{source(self.pred)}_{'true' if value else 'false'}")
        arguments = list(zip(self.labels, self.kinds, strict=True))
        nodes.bodies.add(name, body, arguments, [*results, *numbers, *kept])
        return name

    def _absent(self, body: Nodes, text: str, i: int) -> str:
        """A constant in the place of a value that the branch does not compute."""
        kind = dtypes.as_dtype(self.nodes.dtype(text))
        if kind == dtypes.resource:
            most = _constant(body, np.int32(0), f"absent_{i}/max_size")
            stack = body.add(body.free_name(f"absent_{i}"), "StackV2", [most])
            stack.attr["elem_type"].type = dtypes.float32.as_datatype_enum
            return f"{stack.name}:0"
        if kind == dtypes.variant:
            raise refuse(self.nodes.by_name[source(text)], f"gives a {kind.name} of one branch to what follows")
        return _constant(body, np.zeros([0], kind.as_numpy_dtype), f"absent_{i}", kind)

    def finish(self) -> None:
        nodes, count = self.nodes, len(self.ends)
        left = {name: nodes.by_name[name] for name in self.left}
        for name in self.members:
            del nodes.by_name[name]
        for i, name in enumerate(self.ends):
            _as_merged(nodes, name, f"{self.name}:{i}", f"{self.name}:{count + i}")
        for name, node in left.items():
            self._leave(name, node)

    def _leave(self, name: str, node: protos.NodeDef) -> None:
        """Lets a node that nothing uses keep its name."""
        nodes = self.nodes
        outputs = [self.moved[text] for text in self.kept if source(text) == name]
        if not outputs:
            nodes.add(name, NoOp.name, [], [self.name])
            return
        ran = self.moved.get(self.pred, self.pred)
        if not self.whole.cases[name][self.pred]:
            ran = f"{nodes.free_name(f'{name}/not')}:0"
            nodes.add(source(ran), LogicalNot.name, [self.moved.get(self.pred, self.pred)])
        why = _constant(nodes, np.array(b"Retval[0] does not have value", object), f"{name}/why", dtypes.string)
        check = nodes.add(nodes.free_name(f"{name}/ran"), "Assert", [ran, why])
        check.attr["T"].list.type.append(dtypes.string.as_datatype_enum)
        made = nodes.add(name, "IdentityN", outputs, [check.name])
        made.attr["T"].list.type.extend(kind for _, _, kind in nodes.outputs(node))


def _as_identity(nodes: Nodes, merge: Any) -> None:
    """A `Merge` of one value gives that, as gradients by resources have it."""
    number = _constant(nodes, np.int32(0), f"{merge.name}/index")
    _as_merged(nodes, merge.name, data(merge)[0], number, controls(merge))


def _as_merged(nodes: Nodes, name: str, value: str, number: str, waits: Iterable[str] = ()) -> None:
    """Lets the outputs of `name`, a `Merge`, be these."""
    dtype = nodes.by_name[name].attr["T"].type
    made = nodes.add(name, "IdentityN", [value, number], waits)
    made.attr["T"].list.type.extend([dtype, _INT32])


def _constant(nodes: Nodes, value: Any, name: str, dtype: Any = dtypes.int32) -> str:
    """A new constant among nodes; a reference to it."""
    made = nodes.add(nodes.free_name(name), "Const", [])
    made.attr["dtype"].type = dtype.as_datatype_enum
    made.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))
    return f"{made.name}:0"
