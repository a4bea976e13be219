"""The fields of an extension type: found in the body of its class, checked, and made a signature for constructors."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.core.specs import field_types
from tapeflow.core.specs.tensor_spec import TypeSpec

NO_DEFAULT = inspect.Parameter.empty
PREFIX = "_tf_extension_type"
# The protocol of composite tensors and their specs, as TensorFlow reserves it: all other names are the program's.
_RESERVED = frozenset((
    "self", "Spec", "_type_spec", "_shape_invariant_to_type_spec", "_consumers", "value_type", "is_compatible_with",
    "most_specific_compatible_type", "_with_tensor_ranks_only", "_to_components", "_from_components",
    "_component_specs", "_to_tensor_list", "_from_tensor_list", "_from_compatible_tensor_list", "_flat_tensor_specs",
    "_serialize", "_deserialize", "_to_legacy_output_types", "_to_legacy_output_shapes", "_to_legacy_output_classes",
    "_keras_mask",
))  # fmt: skip


class ExtensionTypeField(NamedTuple):
    """A field: its name, what its annotation says, and its default (`NO_DEFAULT` for none)."""

    name: str
    value_type: Any
    default: Any = NO_DEFAULT

    @property
    def NO_DEFAULT(self) -> Any:
        """What a field without a default has for it."""
        return NO_DEFAULT

    @staticmethod
    def is_reserved_name(name: str) -> bool:
        """Whether a field cannot have this name."""
        return name in _RESERVED or name.lower().startswith(PREFIX)


def check_body(cls: type) -> None:
    """Raises ValueError for reserved names, another `Spec` than a class, and fields without a type."""
    annotated = inspect.get_annotations(cls)
    for name, value in vars(cls).items():
        if name == "Spec":
            _check_spec(cls, value)
        elif ExtensionTypeField.is_reserved_name(name):
            raise _invalid(cls, f"Field {name!r} is reserved.")
    for name in annotated:
        if ExtensionTypeField.is_reserved_name(name):
            raise _invalid(cls, f"Field {name!r} is reserved.")
    for name, value in vars(cls).items():
        described = name in annotated or name.startswith(("__", "_abc_", "_abstract_extension_type"))
        if not described and not callable(value) and not inspect.isdatadescriptor(value):
            if not isinstance(value, (classmethod, staticmethod)):
                raise _invalid(cls, f"Field {name} is missing a type annotation.")


def _invalid(cls: type, what: str) -> ValueError:
    return ValueError(f"The field annotations for {cls.__name__} are invalid. {what}")


def _check_spec(cls: type, value: Any) -> None:
    if not isinstance(value, type):
        raise ValueError(f"{cls.__qualname__}.Spec must be a nested class; got {value}.")
    if any(issubclass(base, TypeSpec) and base is not TypeSpec for base in value.__bases__):
        raise ValueError(f"{cls.__qualname__}.Spec must be directly subclassed from tf.TypeSpec.")


def own_fields(cls: type, complete: bool) -> dict[str, ExtensionTypeField]:
    """The fields that a class adds to those of its bases, by their names.

    Args:
      complete: whether every class that an annotation names has to be there. When a class is made, it may name classes
        that come later; their names stay as they are.

    Raises TypeError for annotations that no field can have, and defaults that do not fit.
    """
    module = sys.modules.get(cls.__module__)
    scope = {**vars(typing), **(vars(module) if module else {}), cls.__name__: cls}
    found: dict[str, ExtensionTypeField] = {}
    for name, annotation in inspect.get_annotations(cls).items():
        try:
            kind = _resolved(annotation, scope)
        except NameError:
            if complete:
                raise TypeError(f"{name}: Unsupported type annotation {annotation!r}") from None
            found[name] = ExtensionTypeField(name, annotation, vars(cls).get(name, NO_DEFAULT))
            continue
        field_types.check(name, kind)
        default = vars(cls).get(name, NO_DEFAULT)
        # A default for a tensor stays as it is: each graph makes a tensor of its own of it.
        if default is not NO_DEFAULT and not field_types.holds_tensors(kind):
            default = field_types.convert(default, kind, f"default value for {name}", False)
        found[name] = ExtensionTypeField(name, kind, default)
    return found


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    """The annotation with classes in the place of their names, and without what `Annotated` adds."""
    if isinstance(annotation, str):
        # What typing.get_type_hints does, without the bases.
        return _resolved(eval(annotation, scope), scope)
    if isinstance(annotation, typing.ForwardRef):
        return _resolved(annotation.__forward_arg__, scope)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _resolved(arguments[0], scope)
    if not arguments or any(isinstance(part, list) for part in arguments):
        return annotation
    found = tuple(_resolved(part, scope) for part in arguments)
    if found == arguments:
        return annotation
    if field_types.is_union(annotation):
        return typing.Union[found]  # noqa: UP007 (as many as there are)
    return annotation.copy_with(found) if hasattr(annotation, "copy_with") else typing.get_origin(annotation)[found]


def signature(fields: Sequence[ExtensionTypeField], cls: type, typed: bool) -> inspect.Signature:
    """How a constructor is called: a parameter for each field, in their order.

    Args:
      fields: of values, whose defaults and annotations count only for them.
      cls: what is made.
      typed: whether values are made, not their specs.
    """
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("self", kind)]
    for name, annotation, default in fields:
        if not typed:
            annotation = default = NO_DEFAULT
        if default is NO_DEFAULT and parameters[-1].default is not NO_DEFAULT:
            kind = inspect.Parameter.KEYWORD_ONLY  # nothing without a default follows one that has it
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    return inspect.Signature(parameters, return_annotation=cls)


def constructor(wanted: inspect.Signature) -> Any:
    """An `__init__` that takes the fields, as `wanted` has them."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = wanted.bind(self, *args, **kwargs)
        bound.apply_defaults()
        fields = iter(bound.arguments.items())
        next(fields)
        self.__dict__.update(fields)

    __init__.__signature__ = wanted  # type: ignore[attr-defined]
    return __init__


class Frozen:
    """Fields that only the constructor sets; what values and their specs share.

    What programs may name as they like is reached by names that extension types reserve.
    """

    _tf_extension_type_kind = "ExtensionType"

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[ExtensionTypeField, ...]:
        """The fields, those of base classes first."""
        raise TypeError(f"{cls.__name__} has no fields")

    @classmethod
    def _tf_extension_type_has_field(cls, name: str) -> bool:
        return any(name == field.name for field in cls._tf_extension_type_fields())

    def __setattr__(self, name: str, value: Any) -> None:
        if PREFIX in self.__dict__ and self._tf_extension_type_has_field(name):
            self.__dict__[name] = value
            return
        raise self._tf_extension_type_frozen(name)

    def __delattr__(self, name: str) -> None:
        if PREFIX in self.__dict__ and self._tf_extension_type_has_field(name):
            del self.__dict__[name]
            return
        raise self._tf_extension_type_frozen(name)

    def _tf_extension_type_frozen(self, name: str) -> AttributeError:
        return AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of {self._tf_extension_type_kind}."
        )

    def __validate__(self) -> None:
        """Checks the fields of a new instance; classes may define their own, which raises what it finds wrong."""


def fields_of(item: Any) -> tuple[ExtensionTypeField, ...]:
    """The fields of an extension type (the class or a value), or of its spec."""
    found: tuple[ExtensionTypeField, ...] = item._tf_extension_type_fields()
    return found


def values_of(item: Any) -> dict[str, Any]:
    """The values of the fields of an extension type or its spec, by their names."""
    return {field.name: item.__dict__[field.name] for field in fields_of(item)}


def with_values(cls: Any, values: dict[str, Any]) -> Any:
    """An instance of these field values, as they are: what the constructor checks was checked when they were made."""
    made: Any = cls.__new__(cls)
    made.__dict__.update(values)
    return made


def start(item: Any) -> None:
    """Lets the constructor set the fields."""
    item.__dict__[PREFIX] = True


def finish(item: Any, of_spec: bool) -> None:
    """Checks what the constructor left, makes it what the annotations say, and lets nothing change any more.

    Raises ValueError for fields that are not set, TypeError for values that do not fit.
    """
    fields = fields_of(item)
    given = {name: value for name, value in item.__dict__.items() if name != PREFIX}
    missing = {field.name for field in fields} - given.keys()
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    for name, annotation, _ in fields:
        item.__dict__[name] = field_types.convert(given[name], annotation, name, of_spec)
    item.__dict__.pop(PREFIX, None)
    item.__validate__()
