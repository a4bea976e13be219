"""`ExtensionTypeSpec`: what describes the values of an extension type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from tapeflow.core.specs import extension_fields, field_types, protocol
from tapeflow.core.specs.extension_fields import (
    ExtensionTypeField,
    Frozen,
    fields_of,
    values_of,
    with_values,
)
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec, _equal
from tapeflow.core.tensor_shape import TensorShape


class ExtensionTypeSpec(Frozen, TypeSpec):
    """Base of the nested classes `Spec`: the fields of an extension type, with specs in the place of tensors."""

    _tf_extension_type_kind = "ExtensionTypeSpec"

    value_type: Any = None

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[ExtensionTypeField, ...]:
        return fields_of(cls.value_type)

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of a value."""
        return with_values(cls, {k: field_types.described(v) for k, v in values_of(value).items()})

    def _parts(self) -> tuple[Any, ...]:
        return tuple(values_of(self).values())

    def _serialize(self) -> tuple[Any, ...]:
        """(name, value) of each field."""
        return tuple((name, field_types.plain(value)) for name, value in values_of(self).items())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        """The spec of what `_serialize` gave. Raises ValueError where these are not the fields of the class."""
        values, fields = dict(serialization), cls._tf_extension_type_fields()
        if values.keys() != {field.name for field in fields}:
            raise ValueError(f"{cls.__qualname__} has the fields {[f.name for f in fields]}, not {list(values)}")
        try:
            return with_values(
                cls, {name: field_types.convert(values[name], kind, name, True) for name, kind, _ in fields}
            )
        except TypeError as error:
            raise ValueError(f"{cls.__qualname__}: {error}") from None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or one that a spec describes, agrees with this."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return type(other) is type(self) and all(
            _compatible(mine, its) for mine, its in protocol.paired_parts(self, other)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The spec that says the most of what is true of this and all of `others`; None if none is."""
        if any(type(other) is not type(self) for other in others):
            return None
        found = {}
        for name, mine in values_of(self).items():
            common = _common(mine, [other.__dict__[name] for other in others])
            if common is NotImplemented:
                return None
            found[name] = common
        return with_values(type(self), found)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value that agrees with this spec agrees with `other`."""
        return type(other) is type(self) and self.most_specific_common_supertype([other]) == other

    # Values and their parts: the tensors and composite tensors in their fields.

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return tuple(field_types.components(tuple(values_of(self).values())))

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return tuple(field_types.components(tuple(values_of(value).values())))

    def _from_components(self, components: Any) -> Any:
        """A value of this spec of its parts."""
        each = iter(components)
        return with_values(self.value_type, {k: _composed(v, each) for k, v in values_of(self).items()})

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{k}={dict(v) if isinstance(v, Mapping) else v!r}" for k, v in values_of(self).items()
        )
        return f"{type(self).__qualname__}({shown})"

    def __reduce__(self) -> Any:
        return with_values, (type(self), values_of(self))

    __hash__ = TypeSpec.__hash__

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and all(
            _equal(mine, its) for mine, its in protocol.paired_parts(self, other)
        )


def spec_class(cls: Any, own: Any, base: type) -> Any:
    """The class that describes values of `cls`.

    Args:
      own: the class `Spec` that the program wrote in `cls`; what is in it comes first. None if there is none.
      base: `ExtensionTypeSpec` or a class of it.
    """
    body: dict[str, Any] = {"__module__": cls.__module__}
    mixins: tuple[type, ...] = ()
    if own is not None:
        body.update({k: v for k, v in vars(own).items() if k not in ("__dict__", "__weakref__")})
        mixins = tuple(each for each in own.__bases__ if each not in (object, TypeSpec))
    fields = cls._tf_extension_type_declared()
    made: Any = type("Spec", (*mixins, base), {**body, "value_type": cls})
    wanted = extension_fields.signature(fields, made, typed=False)
    init = body.get("__init__") or extension_fields.constructor(wanted)
    made.__init__ = _finishing(init)
    made.__qualname__ = f"{cls.__qualname__}.Spec"
    return made


def _finishing(init: Any) -> Any:
    """A constructor of specs, after which the fields are checked and fixed."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        extension_fields.start(self)
        init(self, *args, **kwargs)
        extension_fields.finish(self, of_spec=True)

    __init__.__wrapped__ = init  # type: ignore[attr-defined]
    return __init__


def _compatible(mine: Any, its: Any) -> bool:
    if isinstance(mine, Mapping):
        return (
            isinstance(its, Mapping)
            and set(mine) == set(its)
            and all(_compatible(mine[k], its[k]) for k in mine)
        )
    if isinstance(mine, tuple):
        return isinstance(its, tuple) and len(mine) == len(its) and all(map(_compatible, mine, its))
    if isinstance(mine, TensorSpec):
        # Of two specs their shapes and dtypes count, of a value what it has.
        return (
            isinstance(its, TensorSpec)
            and mine.dtype == its.dtype
            and mine.shape.is_compatible_with(its.shape)
        )
    if isinstance(mine, (TypeSpec, TensorShape)):
        return mine.is_compatible_with(its)
    return _equal(mine, its)


def _common(mine: Any, theirs: list[Any]) -> Any:
    """What is true of all, NotImplemented where nothing is."""
    if isinstance(mine, Mapping):
        if any(not isinstance(its, Mapping) or set(its) != set(mine) for its in theirs):
            return NotImplemented
        made = {k: _common(mine[k], [its[k] for its in theirs]) for k in mine}
        return (
            NotImplemented if NotImplemented in made.values() else field_types.ImmutableDict(made)
        )
    if isinstance(mine, tuple):
        if any(not isinstance(its, tuple) or len(its) != len(mine) for its in theirs):
            return NotImplemented
        parts = tuple(_common(m, [its[i] for its in theirs]) for i, m in enumerate(mine))
        return NotImplemented if any(p is NotImplemented for p in parts) else parts
    if isinstance(mine, TypeSpec):
        found = mine.most_specific_common_supertype(theirs)
        return NotImplemented if found is None else found
    if isinstance(mine, TensorShape):
        return mine.most_specific_common_supertype(theirs)
    return mine if all(_equal(mine, its) for its in theirs) else NotImplemented


def _composed(field: Any, parts: Iterator[Any]) -> Any:
    """The value of a field that a spec describes, of the parts of it."""
    return field_types.with_components(field, parts)
