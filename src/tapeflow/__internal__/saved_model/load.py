"""`tf.__internal__.saved_model.load`: classes that take the objects of a SavedModel."""

from tapeflow.saved_model.revived_types import (
    VersionedTypeRegistration,
    get_setter,
    register_revived_type,
    registered_identifiers,
)

__all__ = ["VersionedTypeRegistration", "get_setter", "register_revived_type", "registered_identifiers"]
