"""Derivatives of compositions, for the rows whose gradients follow from what they are composed of.

Tapes belong to a package above, which registers its class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import providers
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.rows import Identity

# tf.GradientTape.
Tape: Any = None


def register_tape(tape: type) -> None:
    """Say which class tapes have."""
    global Tape
    Tape = tape


def vjp(
    function: Callable[..., Sequence[Any]], inputs: Sequence[Any], upstream: Sequence[Any]
) -> list[Any]:
    """The gradients for `inputs` of the outputs of `function(*inputs)`, weighted by `upstream` (None: not at all)."""
    if Tape is None:
        providers.load("tape")
    own = [Identity(x) for x in inputs]
    with Tape() as tape:
        tape.watch(own)
        outputs = function(*own)
    pairs = [(y, dy) for y, dy in zip(outputs, upstream, strict=True) if dy is not None]
    if not pairs:
        return [zeros_like(x) for x in own]
    found = tape.gradient([y for y, _ in pairs], own, [dy for _, dy in pairs])
    return [zeros_like(x) if dx is None else dx for x, dx in zip(own, found, strict=True)]
