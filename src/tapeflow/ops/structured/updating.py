"""Tensors of structures with other fields."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.ops.structured.fields import is_structured

_WHO = "`StructuredTensor.with_updates`"


def updated(value: Any, updates: Mapping[Any, Any]) -> Any:
    """Structures with fields changed, added or removed; see `StructuredTensor.with_updates`."""
    named = sorted(((_path(name), new) for name, new in updates.items()), key=lambda item: item[0])
    for (before, _), (name, _) in itertools.pairwise(named):
        if name[: len(before)] == before:
            raise ValueError(
                f"{_WHO} does not allow both parent and child nodes to be updated: parent={before}, child={name}. If "
                "needed you can update child nodes in the parent update value."
            )
    return _updated(value, (), named)


def _path(name: Any) -> tuple[str, ...]:
    return (name,) if isinstance(name, str) else tuple(name)


def _updated(value: Any, outer: tuple[str, ...], updates: Sequence[tuple[tuple[str, ...], Any]]) -> Any:
    fields = {name: value.field_value(name) for name in value.field_names()}
    for path, new in updates:
        if not path or not path[0]:
            raise ValueError(f"{_WHO} does not allow empty names {(*outer, path)}.")
        name, shown = path[0], str((*outer, path[0]))
        if len(path) > 1:
            fields[name] = _of_nested(fields, outer, path, new)
        elif new is None:
            if name not in fields:
                raise ValueError(f"{_WHO} cannot delete field {shown} because it is not present.")
            del fields[name]
        elif callable(new):
            if name not in fields:
                raise ValueError(
                    f"{_WHO} cannot update the field {shown} because a transforming function was given, but that field "
                    "does not already exist."
                )
            fields[name] = new(fields[name])
        else:
            fields[name] = new
    try:
        return type(value).from_fields(
            fields, shape=value.shape, row_partitions=value.row_partitions, nrows=value.nrows()
        )
    except ValueError as error:
        where = f" for field {outer}" if outer else ""
        raise ValueError(f"{_WHO} failed{where}") from error


def _of_nested(fields: dict[str, Any], outer: tuple[str, ...], path: tuple[str, ...], new: Any) -> Any:
    name, whole = path[0], (*outer, *path)
    if name not in fields:
        raise ValueError(f"{_WHO} cannot create new sub-field {whole} if parent field {(*outer, name)} is not set.")
    inner = fields[name]
    if not is_structured(inner):
        raise ValueError(
            f"{_WHO} cannot create new sub-field {whole} if parent structure {(*outer, name)} is not a "
            f"`StructuredTensor` that can contain sub-structures -- it is a `{type(inner)}`."
        )
    return _updated(inner, (*outer, name), [(path[1:], new)])
