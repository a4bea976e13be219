"""Where the tensors of a copied body are now, for gradients that programs define, which hold those of the body."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class _Bodies(threading.local):
    """The bodies whose gradient functions run now, outermost first, each with what copies a tensor of it."""

    def __init__(self) -> None:
        self.stack: tuple[tuple[Any, Callable[[Any], Any]], ...] = ()


_bodies = _Bodies()


@contextlib.contextmanager
def copied(body: Callable[..., Any], copy: Callable[[Any], Any]) -> Iterator[None]:
    """A block in which graphs capture `copy(x)` in place of a tensor `x` of the graph `body`."""
    before = _bodies.stack
    _bodies.stack = (*before, (body, copy))
    try:
        yield
    finally:
        _bodies.stack = before


def kept(gradient: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient function made while others run, for whose tensors the same copies stand when it runs itself."""
    made_in = _bodies.stack
    if not made_in:
        return gradient

    def running(*args: Any) -> Any:
        before = _bodies.stack
        _bodies.stack = (*before, *made_in)  # what has been copied since then was made of these copies
        try:
            return gradient(*args)
        finally:
            _bodies.stack = before

    return running


def newest(tensor: Any) -> Any:
    """The copy of a tensor in the graphs being built; the tensor itself where its graph was not copied."""
    for body, copy in reversed(_bodies.stack):
        if tensor.op.graph is body:
            tensor = copy(tensor)
    return tensor
