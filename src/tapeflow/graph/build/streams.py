"""Streams of random numbers: each node continues one of its own, that its seeds start."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import MutableMapping
from typing import Any

from tapeflow.graph.operation import Operation

# Where native code finds the number of a node in a seed: above the 31 bits of the seed itself.
_OF_NODE = 1 << 62
_SHIFT = 31

_numbers = itertools.count(1)
Numbers = MutableMapping[Operation, int]
_numbered: Numbers = weakref.WeakKeyDictionary()
_lock = threading.Lock()  # of the numbers


def attrs_of(op: Operation, numbers: Numbers | None = None) -> dict[str, Any]:
    """The attrs with which `op` runs: those of a seeded random op name the node's own stream.

    Args:
      numbers: the streams of those who start them anew, as sessions do; None: those of functions.
    """
    attrs = op.attrs
    seed, seed2 = attrs.get("seed", 0), attrs.get("seed2", 0)
    if "seed2" not in attrs or (seed == 0 and seed2 == 0) or not 0 <= seed < 1 << _SHIFT:
        return attrs
    numbers = _numbered if numbers is None else numbers
    with _lock:
        number = numbers.get(op)
        if number is None:
            number = numbers[op] = next(_numbers)
    return {**attrs, "seed": _OF_NODE | number << _SHIFT | seed}
