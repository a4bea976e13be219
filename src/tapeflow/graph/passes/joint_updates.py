"""Joint updates: optimizers' updates of single variables that follow one another become one of all the variables.

They do if they have one rule and the same scalars, and nothing between them has effects or reads variables; what is
computed between them is computed before.
"""

from __future__ import annotations

from tapeflow.graph.run.program import Instruction, Program
from tapeflow.ops.state.training_rule import RULES, Rule


def join_updates(program: Program) -> None:
    """Puts one instruction in the place of the last of several updates."""
    kept: list[Instruction] = []
    group: list[Instruction] = []
    changed: set[int] = set()  # by the group

    def close() -> None:
        if len(group) > 1:
            kept.append(_joint(group))
        else:
            kept.extend(group)
        group.clear()
        changed.clear()

    for each in program.instructions:
        rule = RULES.get(each.type) if each.kind == "op" else None
        if rule is not None:
            variables = each.inputs[: len(rule.slots) + 1]
            if group and not (changed.isdisjoint(variables) and _fits(rule, group[0], each)):
                close()
            group.append(each)
            changed.update(variables)
            continue
        if each.stateful:
            close()
        kept.append(each)
    close()
    program.instructions = kept


def _fits(rule: Rule, first: Instruction, other: Instruction) -> bool:
    return (
        other.type == first.type
        and other.payload[1] == first.payload[1]
        and _scalars(rule, other) == _scalars(rule, first)
    )


def _scalars(rule: Rule, each: Instruction) -> list[int]:
    values = each.inputs[len(rule.slots) + 1 :]
    return [*values[: rule.at], *values[rule.at + 1 :]]


def _joint(group: list[Instruction]) -> Instruction:
    first, last = group[0], group[-1]
    rule = RULES[first.type]
    kinds = len(rule.slots) + 1
    variables = [each.inputs[k] for k in range(kinds) for each in group]
    gradients = [each.inputs[kinds + rule.at] for each in group]
    inputs = [*variables, *_scalars(rule, first), *gradients]
    payload = (rule.many, first.payload[1], [len(variables), len(gradients)])
    return Instruction("op", payload, inputs, [], last.label, True)
