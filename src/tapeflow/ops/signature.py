"""Signatures of ops, parsed: the inputs and outputs that their text names, and the kinds of their attrs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from tapeflow.core.dtypes import DType, as_dtype


class Kind(NamedTuple):
    """What values an attr takes. Called with a default, the kind of an attr that may be left out."""

    number: int
    required: bool = True
    default: Any = None
    choices: tuple[str, ...] | None = None
    elements: str = ""  # of a list that calls pass on as it is: "float", "string", "type", "shape" or "func"

    def __call__(self, default: Any) -> Kind:
        return self._replace(required=False, default=default)


integer = Kind(0)
number = Kind(1)
boolean = Kind(2)
dtype = Kind(3)
string = Kind(4)
shape = Kind(5)
ints = Kind(6)
func = Kind(7)
any_object = func
floats = Kind(7, elements="float")
strings = Kind(7, elements="string")
# Attrs that only nodes have. An input or output whose type is an attr of `type_list` is a list of tensors of these.
type_list = Kind(7, elements="type")
shape_list = Kind(7, elements="shape")
func_list = Kind(7, elements="func")
tensor = Kind(8)


def one_of(*choices: str, default: str | None = None) -> Kind:
    """A string that is one of `choices`."""
    return Kind(4, default is None, default, choices)


def kind_of(value: Any) -> Kind:
    """The kind that a row gives for an attr, or that the default it gives implies."""
    if isinstance(value, Kind):
        return value
    for cls, kind in ((bool, boolean), (int, integer), (float, number), (str, string)):
        if isinstance(value, cls):
            return kind(value)
    if isinstance(value, DType):
        return dtype(value)
    return ints(value) if isinstance(value, (list, tuple)) else func(value)


class Preferring(tuple[DType, ...]):
    """Dtypes of which values become the first one, if they can be of it, where no tensor decides."""


class Argument(NamedTuple):
    """An input or output of an op: one tensor, or a list of them.

    Attributes:
      name: its name.
      type: as the signature says it, without the `&` of a reference.
      variable: the type variable, or the attr, that its dtype is; "" where it has several or a fixed one.
      kinds: of a list of several dtypes, the attr that has them; "" for any other argument.
      fixed: its dtype, where none of these says it.
      length: of a list of one dtype, the attr or variable that is its length; "" for any other argument.
      least: how long such a list is at least.
      is_list: whether it is a list.
      is_ref: whether it is a reference to a variable.
    """

    name: str
    type: str
    variable: str
    kinds: str
    fixed: DType | None
    length: str
    least: int
    is_list: bool
    is_ref: bool


def _argument(text: str, types: Collection[str], attrs: Mapping[str, Kind]) -> Argument:
    name, _, kind = text.partition(":")
    count, star, element = kind.strip().partition("*")
    times, _, least = count.partition(">=") if star else ("", "", "")
    spelled = element if star else count
    type_ = spelled.removeprefix("&")
    own = None if type_ in types else attrs.get(type_)
    kinds = type_ if own is not None and own.elements == type_list.elements else ""
    variable = type_ if type_ in types or (own is not None and not kinds) else ""
    fixed = None if variable or kinds else as_dtype(type_)
    return Argument(
        name.strip(), type_, variable, kinds, fixed, times, int(least or 0), bool(star or kinds), type_ != spelled
    )


def parsed(
    signature: str, types: Collection[str] = (), attrs: Mapping[str, Kind] | None = None
) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """The inputs and the outputs of a signature, for these type variables and attrs."""
    inputs, _, outputs = signature.partition("->")
    return (
        tuple(_argument(part, types, attrs or {}) for part in inputs.split(",") if part.strip()),
        tuple(_argument(part, types, attrs or {}) for part in outputs.split(",") if part.strip()),
    )
