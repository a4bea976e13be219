"""Attributes of whole functions, which their FunctionDefs carry from program to program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import text_format

from tapeflow import protos

IMPLEMENTS = "_implements"


def messages(implements: str | None, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """The attributes of a function as AttrValue messages.

    Args:
      implements: the name of what the function computes, or the text of a NameAttrList of it.
      attributes: values, or lists of values, that are bools, numbers or strings.

    Raises:
      ValueError: for values of other kinds.
    """
    found: dict[str, Any] = {} if implements is None else {IMPLEMENTS: _implements(implements)}
    for name, value in (attributes or {}).items():
        found[name] = made = protos.AttrValue()
        if isinstance(value, (list, tuple)):
            made.list.SetInParent()
            for each in value:
                getattr(made.list, _field(name, each)).append(_plain(each))
        else:
            setattr(made, _field(name, value), _plain(value))
    return found


def of_definition(definition: Any) -> dict[str, Any]:
    """The attributes in a FunctionDef that programs gave to the function."""
    return {name: value for name, value in definition.attr.items() if name != "_construction_context"}


def _implements(text: str) -> Any:
    made = protos.AttrValue()
    named = protos.NameAttrList()
    try:
        text_format.Parse(text, named)
    except text_format.ParseError:
        made.s = text.encode()
    else:
        made.func.CopyFrom(named)
    return made


def _field(name: str, value: Any) -> str:
    for kind, field in ((bool, "b"), (int, "i"), (float, "f"), ((str, bytes), "s")):
        if isinstance(value, kind):
            return field
    raise ValueError(f"Attribute {name} must be bool, int, float or str. Got {type(value)}.")


def _plain(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
