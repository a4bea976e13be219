"""Classes of named tuples whose names come from files: `collections.namedtuple` would compile text with them."""

from __future__ import annotations

import functools
import keyword
import operator
from typing import Any, Self


class _NamedTuple(tuple):
    """What the classes share: what `collections.namedtuple` gives to its own."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *values: Any, **named: Any) -> Self:
        found = [*values, *(named.pop(name) for name in cls._fields[len(values) :] if name in named)]
        if named or len(found) != len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}")
        return tuple.__new__(cls, found)

    @classmethod
    def _make(cls, values: Any) -> Self:
        return cls(*values)

    def _replace(self, **changed: Any) -> Self:
        return type(self)(**{**self._asdict(), **changed})

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


@functools.cache
def named_tuple_class(name: str, fields: tuple[str, ...]) -> Any:
    """The class of named tuples; the same one for the same name and fields. Raises ValueError for wrong names."""
    for each in (name, *fields):
        if not each.isidentifier() or keyword.iskeyword(each):
            raise ValueError(f"Type names and field names must be valid identifiers: {each!r}")
    wrong = [each for i, each in enumerate(fields) if each.startswith("_") or each in fields[:i]]
    if wrong:
        raise ValueError(f"Field names must differ, and cannot start with an underscore: {wrong[0]!r}")
    readers = {each: property(operator.itemgetter(i)) for i, each in enumerate(fields)}
    return type(name, (_NamedTuple,), {"__slots__": (), "_fields": fields, "__match_args__": fields, **readers})
