"""Values of extension types whose class the program does not have, such as results of functions of a SavedModel."""

from __future__ import annotations

from typing import Any

from tapeflow.core.specs import field_types
from tapeflow.core.specs.extension_fields import PREFIX, ExtensionTypeField, with_values
from tapeflow.core.specs.extension_type import ExtensionType


class _OwnFields:
    """The fields are those that each instance was made with."""

    def __init__(self, **fields: Any):
        self.__dict__.update(fields)

    def _tf_extension_type_fields(self) -> tuple[ExtensionTypeField, ...]:
        return tuple(ExtensionTypeField(name, Any) for name in self.__dict__ if name != PREFIX)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Cannot set attribute `{name}`. AnonymousExtensionType instances are immutable.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Cannot delete attribute `{name}`. AnonymousExtensionType instances are immutable.")


class AnonymousExtensionType(_OwnFields, ExtensionType):
    """An extension type whose fields are those of each value; all of them can be read, none be set."""

    __init__ = _OwnFields.__init__

    class Spec(_OwnFields):
        """Describes such a value by its fields."""

        __init__ = _OwnFields.__init__

        @classmethod
        def _deserialize(cls, serialization: Any) -> Any:
            """The spec of (name, value) pairs. Raises ValueError for names that would hide what the class has."""
            for name, _ in serialization:
                if not name.isidentifier() or name.startswith("_") or hasattr(cls, name):
                    raise ValueError(f"{name!r} cannot be a field of an extension type whose class is not there")
            return with_values(cls, {name: field_types.immutable(value) for name, value in serialization})


AnonymousExtensionTypeSpec: Any = AnonymousExtensionType.Spec
AnonymousExtensionTypeSpec.__qualname__ = "AnonymousExtensionTypeSpec"
