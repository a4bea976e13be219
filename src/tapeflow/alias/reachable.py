"""`get_reachable_from_inputs`, which libraries ask what a graph computes from some of its tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def get_reachable_from_inputs(inputs: Iterable[Any], targets: Iterable[Any] | None = None) -> set[Any]:
    """Return the tensors and operations of a graph that depend on some of its tensors or operations.

    Args:
      inputs: tensors, variables or operations of a graph.
      targets: where all of these are found, the search ends.
    """
    wanted = set() if targets is None else set(targets)
    todo = [getattr(each, "op", each) if hasattr(each, "handle") else each for each in inputs]
    found: set[Any] = set()
    while todo:
        each = todo.pop()
        if each in found:
            continue
        found.add(each)
        wanted.discard(each)
        if targets is not None and not wanted:
            break
        todo += each.outputs if hasattr(each, "outputs") else each.consumers()
    return found
