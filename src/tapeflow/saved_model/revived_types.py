"""Classes that take the objects of a SavedModel: libraries register them by the identifier that the model has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class VersionedTypeRegistration:
    """How an object of one version of a class is loaded.

    Args:
      object_factory: makes the object of its message, a `SavedUserObject`.
      version: the version that is written.
      min_producer_version: the oldest version that can be read.
      min_consumer_version: the oldest version that can read what is written.
      bad_consumers: versions that cannot read what is written.
      setter: sets the children of the object: `setter(object, name, child)`.
    """

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Any = None,
        setter: Callable[[Any, str, Any], None] = setattr,
    ):
        self.setter = setter
        self.identifier: str | None = None  # set when it is registered
        self._object_factory = object_factory
        self.version = version
        self._min_consumer_version = min_consumer_version
        self._min_producer_version = min_producer_version
        self._bad_consumers = list(bad_consumers or ())

    def to_proto(self) -> Any:
        """The message that a SavedModel has of the class."""
        from tapeflow import protos  # messages are built when they are first used

        made = protos.SavedUserObject(identifier=self.identifier)
        made.version.producer = self.version
        made.version.min_consumer = self._min_consumer_version
        made.version.bad_consumers.extend(self._bad_consumers)
        return made

    def from_proto(self, proto: Any) -> Any:
        """The object of a message."""
        return self._object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this version reads an object of a message."""
        if proto.identifier != self.identifier or self.version < proto.version.min_consumer:
            return False
        if proto.version.producer < self._min_producer_version:
            return False
        return self.version not in proto.version.bad_consumers


_by_identifier: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}
_identifiers: list[str] = []


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: list[VersionedTypeRegistration]
) -> None:
    """Registers how the objects of an identifier are loaded.

    Args:
      identifier: what the SavedModel calls the kind of object.
      predicate: whether an object is of this kind.
      versions: those known, the newest is preferred.

    Raises AssertionError for an identifier that is registered, and for versions that occur twice.
    """
    ordered = sorted(versions, key=lambda each: each.version, reverse=True)
    if identifier in _by_identifier:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    seen: set[int] = set()
    for each in ordered:
        if each.version in seen:
            raise AssertionError(f"Got multiple registrations with version {each.version} for type {identifier}")
        seen.add(each.version)
        each.identifier = identifier
    _by_identifier[identifier] = (predicate, ordered)
    _identifiers.append(identifier)


def registered_identifiers() -> list[str]:
    """The identifiers, in the order in which they were registered."""
    return list(_identifiers)


def serialize(obj: Any) -> Any:
    """The message of an object whose kind is registered; None for others."""
    for predicate, versions in _by_identifier.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def _registration(proto: Any) -> VersionedTypeRegistration | None:
    known = _by_identifier.get(proto.identifier)
    return None if known is None else next((v for v in known[1] if v.should_load(proto)), None)


def deserialize(proto: Any) -> tuple[Any, Callable[..., None]] | None:
    """The object of a message and what sets its children; None where no registered version reads it."""
    found = _registration(proto)
    return None if found is None else (found.from_proto(proto), found.setter)


def get_setter(proto: Any) -> Callable[..., None] | None:
    """What sets the children of the object of a message; None where no registered version reads it."""
    found = _registration(proto)
    return None if found is None else found.setter
