"""What converted code calls: each operator does what Python would, or builds it into the graph."""

from tapeflow.function.autograph.operators.asserts import assertion
from tapeflow.function.autograph.operators.builtins import printing
from tapeflow.function.autograph.operators.calls import cv
from tapeflow.function.autograph.operators.conditional import if_exp, if_stmt
from tapeflow.function.autograph.operators.lists import list_append
from tapeflow.function.autograph.operators.logical import (
    and_,
    chained,
    eq,
    none_of,
    not_,
    not_eq,
    or_,
)
from tapeflow.function.autograph.operators.loops import for_stmt, while_stmt
from tapeflow.function.autograph.operators.staging import NO_RETURN


def of_the_program(names: dict[str, object] | list[str]) -> dict[str, object] | list[str]:
    """What `locals()` or `dir()` gave, without the names that the conversion added."""
    if isinstance(names, dict):
        return {k: v for k, v in names.items() if not k.startswith("ag__")}
    return [n for n in names if not n.startswith("ag__")]


def returned(value: object) -> object:
    """The result of a function that may have run to its end."""
    return None if value is NO_RETURN else value


__all__ = [
    "NO_RETURN",
    "and_",
    "assertion",
    "chained",
    "cv",
    "eq",
    "for_stmt",
    "if_exp",
    "if_stmt",
    "list_append",
    "none_of",
    "not_",
    "not_eq",
    "of_the_program",
    "or_",
    "printing",
    "returned",
    "while_stmt",
]
