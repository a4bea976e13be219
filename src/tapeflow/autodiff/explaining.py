"""Why a gradient is None: the path from a source through what a tape recorded, and where it ends."""

from __future__ import annotations

from typing import Any

from tapeflow.core.variables import identity_of


def _named(value: Any) -> str:
    name = getattr(value, "name", None) if hasattr(value, "assign") else None
    kind = "variable" if name else "tensor"
    label = f" '{name}'" if name else ""
    return f"{kind}{label} of shape {value.shape}, dtype {value.dtype.name}"


def explain(tape: Any, target: Any, source: Any) -> str:
    """How `target` depends on `source`, according to the entries and breaks of a tape."""
    entries = [tuple(entry[:3]) for entry in tape._entries()]
    breaks = list(tape._breaks())
    start, goal = identity_of(source), identity_of(target)
    what = f"The gradient of the target ({_named(target)}) with respect to the {_named(source)}"
    if start == goal:
        return f"{what} exists: they are the same."

    came_from: dict[int, tuple[str, int]] = {}
    reached = {start}
    for name, inputs, outputs in entries:
        first = next((i for i in inputs if i in reached), None)
        if first is not None:
            for output in outputs:
                if output not in reached:
                    reached.add(output)
                    came_from[output] = (name, first)
    if goal in reached:
        path = []
        while goal != start:
            name, goal = came_from[goal]
            path.append(name)
        return f"{what} exists. The path from the source: {' -> '.join(reversed(path))}."

    if not source.dtype.is_floating and not source.dtype.is_complex:
        return f"{what} is None: a source of dtype {source.dtype.name} has no gradient; cast it to a float."
    broken = [b for b in breaks if any(i in reached for i in b[1 if len(b) == 3 else -2])]
    if broken:
        lines = []
        for entry in broken:
            why = entry[1] if len(entry) == 4 and isinstance(entry[1], str) else ""
            lines.append(f"{entry[0]}{f' ({why})' if why else ''}")
        return f"{what} is None: the path broke at {', '.join(lines)}, which passes no gradient on."
    users = [name for name, inputs, _ in entries if start in inputs]
    if users:
        return (
            f"{what} is None: the source was used by {', '.join(dict.fromkeys(users))}, but nothing "
            "computed from them reached the target through recorded operations. Was part of the "
            "computation outside the tape's context, in NumPy, or under stop_recording?"
        )
    hint = (
        "is it trainable, and was it read inside the tape's context?"
        if hasattr(source, "assign")
        else "was it watched (`tape.watch`) before it was used, inside the tape's context?"
    )
    return f"{what} is None: no recorded operation used the source; {hint}"
