"""Dicts and sets whose members are compared by identity, and references that are."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from tapeflow import _native


class _ObjectIdentityWrapper:
    """Stands for an object; equal to what stands for the same one."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return other is not None and _object_behind(self) is _object_behind(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    # An order, so that the keys of a dict can be sorted.
    def __lt__(self, other: object) -> bool:
        return id(_object_behind(self)) < id(_object_behind(other))

    def __gt__(self, other: object) -> bool:
        return id(_object_behind(self)) > id(_object_behind(other))

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


def _object_behind(wrapper: Any) -> Any:
    """The object that a wrapper of this module or a reference to a tensor stands for."""
    if isinstance(wrapper, _ObjectIdentityWrapper):
        return wrapper.unwrapped
    if isinstance(wrapper, _native.Reference):
        return wrapper.deref()
    raise TypeError("Cannot compare wrapped object with unwrapped object")


for _name in ("__eq__", "__ne__", "__lt__", "__gt__"):  # references to tensors compare likewise
    setattr(_native.Reference, _name, vars(_ObjectIdentityWrapper)[_name])


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """As its base, without keeping the object alive."""

    __slots__ = ("_hash",)

    def __init__(self, wrapped: Any):
        super().__init__(weakref.ref(wrapped))
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        """The object; None where it is gone."""
        return self._wrapped()

    def __hash__(self) -> int:
        return self._hash


class Reference(_ObjectIdentityWrapper):
    """Stands for an object, which `deref` gives."""

    __slots__ = ()

    def deref(self) -> Any:
        """The object."""
        return self._wrapped


class ObjectIdentityDictionary(MutableMapping):
    """A dict whose keys are compared by identity."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._items: dict[int, tuple[Any, Any]] = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._items[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[id(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        del self._items[id(key)]

    def __contains__(self, key: object) -> bool:
        return id(key) in self._items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._items.values()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.items())!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """As its base, without keeping the keys alive."""

    def __setitem__(self, key: Any, value: Any) -> None:
        number = id(key)
        self._items[number] = (weakref.ref(key, lambda _: self._items.pop(number, None)), value)

    def __iter__(self) -> Iterator[Any]:
        found = [reference() for reference, _ in self._items.values()]
        return iter([key for key in found if key is not None])


class ObjectIdentitySet(MutableSet):
    """A set whose members are compared by identity."""

    def __init__(self, items: Iterable[Any] = ()):
        self._members = {id(each): each for each in items}

    @staticmethod
    def _from_storage(storage: Any) -> Any:
        return ObjectIdentitySet(storage)

    def add(self, key: Any) -> None:
        self._members[id(key)] = key

    def discard(self, key: Any) -> None:
        self._members.pop(id(key), None)

    def update(self, items: Iterable[Any]) -> None:
        for each in items:
            self.add(each)

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The members that are among `items` too."""
        return ObjectIdentitySet(each for each in items if each in self)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The members that are not among `items`."""
        others = {id(each) for each in items}
        return ObjectIdentitySet(each for each in self if id(each) not in others)

    def clear(self) -> None:
        self._members.clear()

    def __contains__(self, key: object) -> bool:
        return id(key) in self._members

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._members.values()))


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """As its base, without keeping the members alive."""

    def __init__(self, items: Iterable[Any] = ()):
        super().__init__()
        self.update(items)

    def add(self, key: Any) -> None:
        number = id(key)
        self._members[number] = weakref.ref(key, lambda _: self._members.pop(number, None))

    def __iter__(self) -> Iterator[Any]:
        found = [reference() for reference in self._members.values()]
        return iter([key for key in found if key is not None])
