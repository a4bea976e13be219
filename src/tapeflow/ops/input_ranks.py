"""The ranks that a row's inputs may have: the check that comes before the shape rule.

A row declares them by the names of its inputs: "x: 2, y: 1+, z: 0-1" says that x is a matrix, y has one
dimension or more and z at most one. All elements of a list have its rank. Where nothing is known of the
shape of an input like x, its rule sees two unknown dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.shapes import Rule, Shape


class _Ranks(NamedTuple):
    """The least and the greatest rank of one input; None: there is no greatest one."""

    least: int
    most: int | None

    def check(self, rank: int) -> None:
        wrong = ""
        if rank < self.least:
            wrong = f"{'' if self.least == self.most else 'at least '}rank {self.least}"
        elif self.most is not None and rank > self.most:
            wrong = f"{'' if self.least == self.most else 'at most '}rank {self.most}"
        if wrong:
            raise InvalidArgumentError(None, None, f"Shape must be {wrong} but is rank {rank}")

    def unknown(self) -> Shape:
        """What is known of the shape where only the rank may be known."""
        return (None,) * self.least if self.least == self.most else None


def _parsed(text: str, names: Iterable[str]) -> list[_Ranks]:
    """What `text` says of each input."""
    said = dict.fromkeys(names, _Ranks(0, None))
    for part in text.split(","):
        name, _, ranks = (word.strip() for word in part.partition(":"))
        if name not in said:
            raise ValueError(f"There is no input {name} to have the rank {ranks}")
        least, dash, most = ranks.partition("-")
        if least.endswith("+"):
            said[name] = _Ranks(int(least[:-1]), None)
        else:
            said[name] = _Ranks(int(least), int(most if dash else least))
    return list(said.values())


class _Ranked:
    """A call of which the inputs of unknown shape have the rank that the row declares."""

    def __init__(self, call: Any, ranks: Sequence[_Ranks]):
        self._call = call
        self._ranks = ranks

    def shape(self, i: int) -> Shape:
        found = self._call.shape(i)
        return self._ranks[i].unknown() if found is None else found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)


def checked(rule: Rule, text: str, lists: Mapping[str, bool]) -> Rule:
    """`rule`, of a row whose inputs (their names, and whether they are lists) have the ranks in `text`."""
    declared = _parsed(text, lists)
    has_lists = any(lists.values())

    def ranked(call: Any) -> list[Shape]:
        ranks = _flat(declared, lists.values(), call.list_sizes) if has_lists else declared
        known = True
        for i, each in enumerate(ranks):
            shape = call.shape(i)
            if shape is None:
                known = False
            else:
                each.check(len(shape))
        return rule(call if known else _Ranked(call, ranks))

    return ranked


def _flat(
    ranks: Sequence[_Ranks], lists: Iterable[bool], sizes: Iterable[int]
) -> Sequence[_Ranks]:
    """One entry for each tensor, lists spread out."""
    size = iter(sizes)
    return [
        each
        for each, is_list in zip(ranks, lists, strict=True)
        for _ in range(next(size) if is_list else 1)
    ]
