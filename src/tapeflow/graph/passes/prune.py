"""Prune: what nobody needs does not run."""

from __future__ import annotations

from tapeflow.graph.run.program import Program


def prune(program: Program) -> None:
    """Drops instructions without effects whose outputs are not used, and constants that are not."""
    used = set(program.outputs)
    kept = []
    for each in reversed(program.instructions):
        effects = each.stateful and (each.row is None or each.row.effects)
        if effects or any(v in used for v in each.outputs):
            kept.append(each)
            used.update(each.inputs)
    program.instructions = kept[::-1]
    program.constants = {v: t for v, t in program.constants.items() if v in used}
