"""The ranks that a row's inputs may have: the check that comes before the shape rule.

A row declares them by the names of its inputs: "x: 2, y: 1+, z: 0-1" says that x is a matrix, y has one
dimension or more and z at most one. All elements of a list have to have its rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core.errors import InvalidArgumentError


class _Ranks(NamedTuple):
    """The least and the greatest rank (None: any) of one input of the signature."""

    least: int
    most: int | None
    is_list: bool

    def check(self, shape: Sequence[int | None] | None) -> None:
        if shape is None:
            return
        rank = len(shape)
        wrong = ""
        if rank < self.least:
            wrong = f"{'' if self.least == self.most else 'at least '}rank {self.least}"
        elif self.most is not None and rank > self.most:
            wrong = f"{'' if self.least == self.most else 'at most '}rank {self.most}"
        if wrong:
            raise InvalidArgumentError(None, None, f"Shape must be {wrong} but is rank {rank}")


def _parsed(text: str, lists: dict[str, bool]) -> list[_Ranks]:
    """What `text` says of each input; `lists` has their names, and whether they are lists."""
    said = {}
    for part in text.split(","):
        name, _, ranks = part.partition(":")
        least, dash, most = ranks.strip().partition("-")
        if least.endswith("+"):
            said[name.strip()] = int(least[:-1]), None
        else:
            said[name.strip()] = int(least), int(most if dash else least)
    if said.keys() - lists.keys():
        raise ValueError(f"ranks of inputs that there are not: {said.keys() - lists.keys()}")
    return [_Ranks(*said.get(name, (0, None)), is_list) for name, is_list in lists.items()]


def checked(
    rule: Callable[[Any], list[Any]], text: str, lists: dict[str, bool]
) -> Callable[[Any], list[Any]]:
    """`rule`, of a row whose inputs (their names, and whether they are lists) have the ranks in `text`."""
    inputs = _parsed(text, lists)

    def ranked(call: Any) -> list[Any]:
        sizes = iter(call.list_sizes if any(lists.values()) else ())
        at = 0
        for ranks in inputs:
            end = at + (next(sizes) if ranks.is_list else 1)
            for i in range(at, end):
                ranks.check(call.shape(i))
            at = end
        return rule(call)

    return ranked
