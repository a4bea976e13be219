"""Seeds: how the global seed and the seed of an op together choose a stream of random numbers."""

from __future__ import annotations

import random
import threading
import weakref
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.public import public

DEFAULT_GRAPH_SEED = 87654321
_LIMIT = 2**31 - 1

_global_seed: int | None = None
_draws = random.Random()
_starts = 0
# How many ops without a seed of their own each seeded graph has.
_graph_draws: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_counting = threading.Lock()


@api(v1=("random.set_random_seed", "set_random_seed"), v2="random.set_seed")
@public
def set_seed(seed: int | None):
    """Sets the global seed, and starts every stream of random numbers again.

    With neither a global seed nor one given to the op, numbers differ from run to run. With a global seed only, each
    call draws a seed of its own, the same ones in every run. With a seed given to the op, calls that have the same
    arguments continue one stream, from the start again after `set_seed`.

    None takes the global seed away. Raises TypeError when `seed` is not a whole number.
    """
    global _global_seed, _draws, _starts
    if seed is None and not context.executing_eagerly():
        context.current_graph().seed = None
        return
    value = None if seed is None else _whole(seed)
    if context.executing_eagerly():
        _global_seed = value
        _draws = random.Random(value)
        _starts += 1
        _native.random_reset()
    else:
        context.current_graph().seed = value


def starts() -> int:
    """How often all streams have been started again."""
    return _starts


set_random_seed = set_seed
context.register_eager_seed(lambda: _global_seed)


def _whole(seed: int) -> int:
    if isinstance(seed, (str, bytes)):
        raise TypeError(f"A seed must be a whole number, got {seed!r}")
    if isinstance(seed, int):
        return seed
    return int(np.asarray(seed.numpy() if hasattr(seed, "numpy") else seed))


@api(v1=("random.get_seed", "get_seed"))
@public
def get_seed(op_seed: Any):
    """The two seeds, `(seed, seed2)`, that an op is to use when the caller gave it `op_seed` (None: none).

    `(None, None)` when the numbers are to differ from run to run.
    """
    return _seeds(op_seed)[0]


def seeds(op_seed: int | None) -> tuple[int, int]:
    """`get_seed` for a call that is made at once: (0, 0) stands for none."""
    pair, drawn = _seeds(op_seed)
    if pair[0] is None:
        return 0, 0
    if drawn:
        _native.random_drawn(*pair)
    return pair


def _seeds(op_seed: int | None) -> tuple[tuple[Any, Any], bool]:
    """The pair, and whether the second was drawn for this call alone."""
    eager = context.executing_eagerly()
    graph = None if eager else context.current_graph()
    global_seed = _global_seed if eager else getattr(graph, "seed", None)
    drawn = False
    if op_seed is not None:
        op_seed = _whole(op_seed)
    if global_seed is None:
        if op_seed is None:
            return (None, None), False
        pair = DEFAULT_GRAPH_SEED, op_seed % _LIMIT
    else:
        if op_seed is None:
            if graph is None:
                op_seed = _draws.randint(0, _LIMIT)
                drawn = True
            else:
                with _counting:
                    op_seed = _graph_draws.get(graph, 0)
                    _graph_draws[graph] = op_seed + 1
        pair = global_seed % _LIMIT, op_seed % _LIMIT
    # Zeros stand for no seed at all.
    return (pair if pair != (0, 0) else (0, _LIMIT)), drawn
