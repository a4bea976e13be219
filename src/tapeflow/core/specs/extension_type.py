"""`ExtensionType`: classes of several tensors and plain values that programs define, used like tensors.

The annotations of a class are its fields. Instances cannot be changed; they are composite tensors of `tf.nest`, so
that functions, control flow and datasets take them apart and put them together again. The nested class `Spec`
describes them: it has the same fields, with specs in the place of tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tapeflow import _native
from tapeflow.core.specs import extension_fields, field_types, type_spec_registry
from tapeflow.core.specs.extension_fields import ExtensionTypeField, Frozen, values_of, with_values
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec, spec_class
from tapeflow.core.specs.protocol import type_spec_of
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.structures import structure
from tapeflow.core.tensor_shape import TensorShape

# Whether all pairs of two lists of tensors are equal, as a scalar tensor; set by the `ops` package.
_all_equal: Any = None


def register_comparison(function: Any) -> None:
    """Let `function(tensors, others)` compare the parts of two values of the same spec."""
    global _all_equal
    _all_equal = function


class _Fields(type):
    """The class of extension types: finds the fields, and finishes instances when their constructor is done."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any):
        super().__init__(name, bases, namespace, **kwargs)
        if namespace.get("_abstract_extension_type"):
            return
        extension_fields.check_body(cls)
        cls._tf_extension_type_own = extension_fields.own_fields(cls, complete=False)
        cls._tf_extension_type_all: tuple[ExtensionTypeField, ...] | None = None
        if "__init__" not in namespace:
            wanted = extension_fields.signature(cls._tf_extension_type_declared(), cls, typed=True)
            cls.__init__ = extension_fields.constructor(wanted)  # type: ignore[misc]
        made = spec_class(cls, namespace.get("Spec"), cls._tf_extension_type_spec_base)  # type: ignore[attr-defined]
        encoder = getattr(cls, "__batch_encoder__", None)
        if encoder is not None:
            made.__batch_encoder__ = encoder
        cls.Spec = made
        if "__name__" in namespace:
            if not isinstance(namespace["__name__"], str):
                raise ValueError(f"{cls.__qualname__}.__name__ must be a string, not {namespace['__name__']!r}.")
            type_spec_registry.register(f"{namespace['__name__']}.Spec")(made)

    def _tf_extension_type_declared(cls) -> list[ExtensionTypeField]:
        """The fields as they are known when the class is made, those of base classes first."""
        found: dict[str, ExtensionTypeField] = {}
        for base in reversed(cls.__mro__):
            found.update(vars(base).get("_tf_extension_type_own", {}))
        return list(found.values())

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_abstract_extension_type"):
            raise AssertionError(
                f"Cannot create an instance of {cls.__name__} because {cls.__name__} is an abstract base class."
            )
        made: Any = cls.__new__(cls)  # type: ignore[call-overload]
        extension_fields.start(made)
        made.__init__(*args, **kwargs)
        extension_fields.finish(made, of_spec=False)
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        own = inspect.signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:])


class ExtensionType(Frozen, metaclass=_Fields):
    """Base of classes of tensors: fields are annotated in the body of the class.

    A field may be of `tf.Tensor`, of another extension type or composite tensor, `int`, `float`, `str`, `bytes`,
    `bool`, `None`, `tf.TensorShape`, `tf.DType`, or a `Tuple`, `Mapping`, `Union` or `Optional` of such. Arguments
    are converted to what the annotations say; `__validate__` may check more. The constructor takes the fields in
    their order, those without a default that follow one which has it by keyword only, unless the class has its own,
    which sets them. A class with `__name__ = "project.Name"` in its body can be in the signatures of functions of a
    SavedModel.

    Raises TypeError for arguments that do not fit, and for annotations of other types; ValueError for fields of
    reserved names, and those that a constructor does not set.
    """

    _abstract_extension_type = True
    _tf_extension_type_spec_base: type = ExtensionTypeSpec

    def __init__(self, *args: Any, **kwargs: Any):
        """Each class gets a constructor of its own."""

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[ExtensionTypeField, ...]:
        found = cls.__dict__.get("_tf_extension_type_all")
        if found is None:
            fields: dict[str, ExtensionTypeField] = {}
            for base in reversed(cls.__mro__):
                if "_tf_extension_type_own" in base.__dict__:
                    fields.update(extension_fields.own_fields(base, complete=True))
            found = cls._tf_extension_type_all = tuple(fields.values())
        return found

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in values_of(self).items())
        return f"{type(self).__qualname__}({listed})"

    @property
    def _type_spec(self) -> Any:
        cls: Any = type(self)
        return cls.Spec.from_value(self)

    @property
    def _trace_key(self) -> Any:
        """What of it is no tensor, for a trace to depend on."""
        return tuple(_outline(v) for v in values_of(self).values())

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, type(self)) or self._type_spec != type_spec_of(other):
            return False
        assert _all_equal is not None
        return _all_equal(_parts(self), _parts(other))

    def __ne__(self, other: Any) -> Any:
        same = self == other
        if isinstance(same, bool):
            return not same
        return ~same

    __hash__ = None  # type: ignore[assignment]


def _outline(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _outline(value[key])) for key in sorted(value))
    if isinstance(value, tuple):
        return tuple(map(_outline, value))
    if isinstance(value, _native.Tensor):
        return None
    key = getattr(value, "_trace_key", None)
    if key is not None:
        return type(value), key
    if structure.is_nested_or_composite(value) and not isinstance(value, TensorShape):
        return type(value)
    return value


def _parts(value: Any) -> list[Any]:
    return structure.flatten(value, expand_composites=True)


def _flatten(value: Any) -> list[Any]:
    return [c for field in values_of(value).values() for c in field_types.components(field)]


def _unflatten(like: Any, parts: list[Any]) -> Any:
    each = iter(parts)
    if parts and all(isinstance(part, TypeSpec) for part in parts):
        cls: Any = type(like).Spec
    else:
        cls = type(like)
    return with_values(
        cls, {k: field_types.with_components(v, each) for k, v in values_of(like).items()}
    )


structure.register_composite(ExtensionType, _flatten, _unflatten)
