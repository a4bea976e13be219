"""Elementwise fusion: runs of elementwise ops, and full reductions of their results, become one "fused" instruction.

A group grows while nothing outside of it has used its values, so that it can run where its last member ran. All
members have the group's static shape; other operands broadcast into it in a way that the native loops know. What
turns out otherwise at run time, shapes that were unknown above all, runs the group's own instructions instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.graph.run.program import Instruction, Program
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.math.arithmetic import AddV2
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.choice import SelectV2
from tapeflow.ops.math.reduction import Max, Mean, Min, Sum
from tapeflow.ops.nn.bias import BiasAdd

_MOST_STEPS = 48
_MOST_INPUTS = 24
# Of few elements, only longer groups are worth the look at the shapes.
_FEW_ELEMENTS = 256
_LONG_GROUP = 5
_FLOATS = ("float32", "float64")
_NUMBERS = (*_FLOATS, "int32", "int64")
_REDUCED_DTYPES = {Sum: _NUMBERS, Mean: _FLOATS, Max: _NUMBERS, Min: _NUMBERS}
Shape = tuple[int | None, ...]


class Group:
    """Instructions that run as one.

    Attributes:
      shape: of the members' results, as far as it is known.
      steps: (row, attrs, operands, value, index of the member), operands and the result as values of the program.
      computed: the values of the steps.
      inputs: what the steps read from outside, in order of first use; not the axes of reductions.
      reductions: value of the result -> (name, value that is reduced).
      members: (index, instruction), in order.
      merged_into: the group that took this one over.
    """

    def __init__(self, shape: Shape):
        self.shape = shape
        self.steps: list[tuple[Any, dict[str, Any], list[int], int, int]] = []
        self.computed: set[int] = set()
        self.inputs: dict[int, None] = {}
        self.reductions: dict[int, tuple[str, int]] = {}
        self.members: list[tuple[int, Instruction]] = []
        self.merged_into: Group | None = None

    def has_room(self, other: Group | None, steps: list[Any], inputs: list[int]) -> bool:
        """Whether the other group and new steps still fit in."""
        count = len(self.steps) + len(steps) + (0 if other is None else len(other.steps))
        reads = set(self.inputs) | set(inputs) | (set() if other is None else set(other.inputs))
        return count <= _MOST_STEPS and len(reads) <= _MOST_INPUTS

    def add(self, k: int, each: Instruction, steps: list[Any]) -> None:
        self.members.append((k, each))
        for row, attrs, operands, value in steps:
            self.inputs.update((v, None) for v in operands if v not in self.computed)
            self.computed.add(value)
            self.steps.append((row, attrs, operands, value, k))

    def absorb(self, other: Group) -> None:
        """Takes over a group that reads nothing of this one's, nor this one of its."""
        other.merged_into = self
        self.computed |= other.computed
        self.inputs |= other.inputs
        self.reductions.update(other.reductions)
        self.members = sorted(self.members + other.members, key=lambda member: member[0])
        self.steps = sorted(self.steps + other.steps, key=lambda step: step[4])

    def worthwhile(self) -> bool:
        count = len(self.steps) + len(self.reductions)
        if count < 2:
            return False
        known = all(d is not None for d in self.shape)
        few = known and int(np.prod(self.shape)) < _FEW_ELEMENTS  # type: ignore[arg-type]
        return not few or count >= _LONG_GROUP


class Fused:
    """The payload of a fused instruction of a program, until it is compiled.

    Attributes:
      group: what it was made of.
      inputs, outputs: values of the program.
    """

    def __init__(self, program: Program, group: Group, inputs: list[int], outputs: list[int]):
        self.group = group
        self.inputs = inputs
        self.outputs = outputs
        self.dtypes = [int(program.values[v].dtype) for v in inputs]
        read = {v for _, each in group.members for v in each.inputs}
        self.constants = {
            v: t for v, t in program.constants.items() if v in read and v not in inputs
        }

    def compiled(self, compile_program: Callable[[Program], Any]) -> Any:
        """What the native instruction takes."""
        numbers = {v: k for k, v in enumerate(self.inputs)}
        steps = []
        for row, attrs, operands, value, _ in self.group.steps:
            steps.append((row, attrs, [numbers[v] for v in operands]))
            numbers[value] = len(numbers)
        outputs = []
        for v in self.outputs:
            reduction = self.group.reductions.get(v)
            outputs.append(
                (numbers[v], None) if reduction is None else (numbers[reduction[1]], reduction[0])
            )
        return steps, outputs, self.dtypes, self._fallback()

    def _fallback(self) -> Any:
        registers: dict[int, int] = {}
        for v in self.inputs:
            registers[v] = len(registers)
        constants = [
            (registers.setdefault(v, len(registers)), t) for v, t in self.constants.items()
        ]
        instructions: list[tuple[str, Any, Sequence[int], Sequence[int], Any]] = []
        for _, x in self.group.members:
            inputs = [registers[v] for v in x.inputs]
            outputs = [registers.setdefault(v, len(registers)) for v in x.outputs]
            instructions.append((x.kind, x.payload, inputs, outputs, x.label))
        return _native.Plan(
            "unfused", len(registers), [registers[v] for v in self.inputs], constants, instructions,
            [registers[v] for v in self.outputs],
        )  # fmt: skip


def fuse(program: Program) -> None:
    """Replaces groups of elementwise instructions by fused ones."""
    instructions = program.instructions
    groups = _groups(program)
    if not groups:
        return
    users: dict[int, set[int]] = {}
    for k, each in enumerate(instructions):
        for v in each.inputs:
            users.setdefault(v, set()).add(k)
    wanted = set(program.outputs)
    at: dict[int, Instruction] = {}
    gone: set[int] = set()
    for group in groups:
        inside = {k for k, _ in group.members}
        results = [v for _, each in group.members for v in each.outputs]
        outputs = [v for v in results if v in wanted or users.get(v, set()) - inside]
        inputs = list(group.inputs)
        payload = Fused(program, group, inputs, outputs)
        at[group.members[-1][0]] = Instruction(
            "fused", payload, inputs, outputs, group.members[-1][1].label, False
        )
        gone |= inside
    program.instructions = [
        at.get(k, each) for k, each in enumerate(instructions) if k in at or k not in gone
    ]


def _groups(program: Program) -> list[Group]:
    of_value: dict[int, Group] = {}  # values of groups, and the group then
    still_open: dict[Group, None] = {}
    done = []

    def seal(group: Group) -> None:
        del still_open[group]
        if group.worthwhile():
            done.append(group)

    for k, each in enumerate(program.instructions):
        read: dict[Group, None] = {}
        for v in each.inputs:
            group = of_value.get(v)
            while group is not None and group.merged_into is not None:
                group = of_value[v] = group.merged_into
            if group is not None and group in still_open:
                read[group] = None
        joined = _join(program, each, k, list(read))
        for group in read:
            if group.merged_into is not None:
                del still_open[group]
            elif group is not joined:
                seal(group)
        if joined is not None:
            still_open[joined] = None
            of_value[each.outputs[0]] = joined
    for group in list(still_open):
        seal(group)
    return done


def _join(program: Program, each: Instruction, k: int, open_groups: list[Group]) -> Group | None:
    """The group that the instruction is now a member of, merged from those whose values it uses, or a new one."""
    if each.kind != "op" or each.stateful or len(each.outputs) != 1 or each.outputs[0] < 0:
        return None
    if each.row in _REDUCED_DTYPES:
        return _join_reduction(program, each, k, open_groups)
    computed = len(each.inputs) > 1 and any(each.inputs[1] in g.computed for g in open_groups)
    steps = _steps(program, each, computed)
    shape = program.values[each.outputs[0]].shape
    if steps is None or shape is None:
        return None
    group: Group | None = None
    for other in open_groups:
        if other.shape != shape or any(v in other.reductions for v in each.inputs):
            continue
        if not other.has_room(group, steps, each.inputs):
            continue
        if group is None:
            group = other
        else:
            group.absorb(other)
    if group is None:
        group = Group(shape)
    group.add(k, each, steps)
    return group


def _join_reduction(
    program: Program, each: Instruction, k: int, open_groups: list[Group]
) -> Group | None:
    if len(open_groups) != 1 or each.payload[1].get("keep_dims"):
        return None
    group, (x, axes) = open_groups[0], each.inputs
    if (
        x in group.reductions
        or x not in group.computed
        or program.values[x].dtype.name not in _REDUCED_DTYPES[each.row]
    ):
        return None
    axes_tensor = program.constants.get(axes)
    rank = len(group.shape)
    if axes_tensor is None or rank == 0:
        return None
    named = np.asarray(axes_tensor.numpy()).reshape(-1).tolist()
    if any(not -rank <= a < rank for a in named) or {a % rank for a in named} != set(range(rank)):
        return None
    group.members.append((k, each))
    group.reductions[each.outputs[0]] = (each.type, x)
    return group


def _steps(program: Program, each: Instruction, computed: bool) -> Any:
    """The steps that compute what the instruction does; None if it has none, or operands that the loops cannot take.

    computed: whether the second operand is a result of a group.
    """
    row, attrs, _ = each.payload
    inputs, (value,) = each.inputs, each.outputs
    result = program.values[value]
    shapes: list[Any] = [program.values[v].shape for v in inputs]
    if not inputs or result.shape is None or any(shape is None for shape in shapes):
        return None
    name, dtype = row.name, program.values[inputs[1 if row is SelectV2 else 0]].dtype
    if row is BiasAdd:
        if (
            attrs.get("data_format", "NHWC") not in ("NHWC", b"NHWC")
            or len(shapes[1]) != 1
            or len(shapes[0]) < 2
        ):
            return None
        row, attrs, name = AddV2, {}, AddV2.name
    elif row is Cast:
        if attrs.get("Truncate"):
            return None
        name = f"{row.name} {attrs['DstT'].name}"
    elif row is AddN and 1 < len(inputs) <= 8 and all(shape == result.shape for shape in shapes):
        return _sum_steps(program, inputs, value) if _native.fusable(AddV2.name, int(dtype)) else None
    if not _native.fusable(name, int(dtype), computed):
        return None
    same = [shape == result.shape for shape in shapes]
    if not any(same) or not (row.broadcasts or all(same)):
        return None
    if not all(_lies_under(shape, result.shape) for shape in shapes):
        return None
    return [(row, attrs, list(inputs), value)]


def _sum_steps(program: Program, inputs: list[int], value: int) -> Any:
    """A chain of additions, in the order of AddN's own."""
    steps: list[Any] = []
    total = inputs[0]
    for v in inputs[1:-1]:
        partial = program.value(*program.values[value])
        steps.append((AddV2, {}, [total, v], partial))
        total = partial
    return [*steps, (AddV2, {}, [total, inputs[-1]], value)]


def _lies_under(part: Any, whole: Any) -> bool:
    """Whether `part` is `whole`, one element, or broadcasts along leading or along trailing dimensions only."""
    if part == whole or all(d == 1 for d in part):
        return len(part) <= len(whole)
    inner = list(part)
    while inner and inner[0] == 1:
        inner.pop(0)
    if inner == list(whole[len(whole) - len(inner) :]):
        return True
    outer = list(part)
    while outer and outer[-1] == 1:
        outer.pop()
    return len(part) == len(whole) and outer == list(whole[: len(outer)])
