"""What a row says of its op besides its signature, its kernel, its shape rule and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict

# The attrs of ops that draw from a stream of random numbers.
SEEDS = frozenset({"seed", "seed2"})


class Facts(TypedDict, total=False):
    """What else a row says of its op; each is an attribute of the row.

    Attributes:
      stateful: whether it has effects or results that differ from call to call, so that graphs keep each
        call; None: it does if it takes a resource or draws from a stream of random numbers.
      effects: whether others notice a call, so that graphs run it though nobody needs its outputs; None: where it is
        stateful.
      reads_only: whether it leaves the resource that it takes as it is, so that several calls may run side by side;
        this is so where there are no effects.
      touches: what outside of the program a call may read or write: "files", or "" for nothing.
      reads: the input that names the one file which a call reads, where that is all it does with files.
      forwards: whether the outputs are the inputs, so that a call needs no work.
      moves: whether the elements of the outputs are elements of the inputs, so that no new NaN or infinity comes of it.
      foldable: whether a call of known inputs is computed while a graph is built: shapes, axes and sizes are made of
        these. As few as TensorFlow looks at, so that checks of values fail while a graph is built where they do there.
      of_shape: gives the result for the sizes of an input, where it depends on these alone, and None where it needs
        one that is None; of several inputs, each has a result.
      quantizes: the ops on floats of which it is the counterpart on integers of 8 bits: its inputs are theirs, followed
        by the ends of the ranges of those that are integers; its outputs end with those of the result.
      node_name: the name of nodes, where TensorFlow's functions give them another one than the op's.
      composed_in: of an op that TensorFlow does not know, the module that composes it of nodes that TensorFlow does:
        "parsing" for `graph.interchange.written_parsing`. GraphDefs hold a call of that.
      only_here: why GraphDefs that hold the op can be read by this library alone.
    """

    stateful: bool | None
    effects: bool | None
    reads_only: bool
    touches: str
    reads: str
    forwards: bool
    moves: bool
    foldable: bool
    of_shape: Callable[[tuple[int | None, ...]], Any] | None
    quantizes: tuple[str, ...]
    node_name: str
    composed_in: str
    only_here: str


_FACTS = Facts(
    stateful=None, effects=None, reads_only=False, touches="", reads="", forwards=False, moves=False, foldable=False,
    of_shape=None, quantizes=(), node_name="", composed_in="", only_here="",
)  # fmt: skip


def all_facts(name: str, given: Facts, arguments: Iterable[Any], draws: bool) -> Facts:
    """The facts that a row gives, and those that follow: from others, its arguments, and whether it draws numbers."""
    found: Facts = {**_FACTS, **given}
    if len(found) > len(_FACTS):
        raise TypeError(f"{name}: unknown facts: {', '.join(found.keys() - _FACTS.keys())}")
    if found["stateful"] is None:
        found["stateful"] = draws or any(a.type == "resource" for a in arguments)
    if found["effects"] is None:
        found["effects"] = found["stateful"]
    found["reads_only"] = found["reads_only"] or not found["effects"]
    found["moves"] = found["moves"] or found["forwards"]
    return found
