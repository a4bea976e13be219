"""`ExtensionType`: classes of several tensors and plain values that programs define, used like tensors.

The annotations of a class are its fields. Instances cannot be changed; they are composite tensors of `tf.nest`, so
that functions, control flow and datasets take them apart and put them together again. The nested class `Spec`
describes them: it has the same fields, with specs in the place of tensors.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tapeflow import _native
from tapeflow.core.specs import field_types, type_spec_registry
from tapeflow.core.specs.protocol import (
    batched,
    component_specs,
    from_components,
    paired_parts,
    type_spec_of,
    unbatched,
)
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec, _equal
from tapeflow.core.structures import structure
from tapeflow.core.tensor_shape import TensorShape

_RESERVED = {"self", "Spec"}

# Whether all pairs of two lists of tensors are equal, as a scalar tensor; set by the `ops` package.
_all_equal: Any = None


def register_comparison(function: Any) -> None:
    """Let `function(tensors, others)` compare the parts of two values of the same spec."""
    global _all_equal
    _all_equal = function


def _annotations(cls: type, own: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a class itself, those in quotes evaluated where they were written."""
    module = sys.modules.get(cls.__module__)
    scope = {**vars(typing), **(vars(module) if module else {}), cls.__name__: cls}
    out = {}
    for name, annotation in own.items():
        if isinstance(annotation, str):
            annotation = eval(
                annotation, scope
            )  # what typing.get_type_hints does, without the bases
        out[name] = _resolved(annotation, scope)
    return out


def _resolved(annotation: Any, scope: dict[str, Any]) -> Any:
    if isinstance(annotation, typing.ForwardRef):
        return eval(annotation.__forward_arg__, scope)
    arguments = typing.get_args(annotation)
    if not arguments or not any(isinstance(a, (str, typing.ForwardRef)) for a in arguments):
        return annotation
    return typing.get_origin(annotation)[tuple(_resolved(a, scope) for a in arguments)]


class _Fields(type):
    """The class of extension types: finds the fields, and finishes instances when their constructor is done."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any):
        super().__init__(name, bases, namespace, **kwargs)
        cls._own_fields: dict[str, Any] | None = None
        if namespace.get("_abstract_extension_type"):
            return
        given = inspect.get_annotations(cls)
        for field in given:
            if field in _RESERVED or field.startswith("_tf_extension_type"):
                raise ValueError(
                    f"The field annotations for {cls.__name__} are invalid. Field {field} is reserved."
                )
        for field, value in namespace.items():
            plain = not callable(value) and not isinstance(
                value, (property, classmethod, staticmethod)
            )
            if plain and field not in given and not field.startswith("_"):
                if isinstance(value, type) or inspect.isdatadescriptor(value):
                    continue
                raise ValueError(
                    f"The field annotations for {cls.__name__} are invalid. Field {field} is missing a type "
                    "annotation."
                )
        cls.Spec = _spec_class(cls, namespace.get("Spec"))
        if "__name__" in namespace:
            if not isinstance(namespace["__name__"], str):
                raise ValueError(f"{cls.__qualname__}.__name__ must be a string, not {namespace['__name__']!r}.")
            type_spec_registry.register(f"{namespace['__name__']}.Spec")(cls.Spec)

    @property
    def fields(cls) -> dict[str, Any]:
        """The annotation of each field, those of base classes first."""
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            if isinstance(base, _Fields) and not base.__dict__.get("_abstract_extension_type"):
                if base._own_fields is None:
                    base._own_fields = _annotations(base, inspect.get_annotations(base))
                    for name, annotation in base._own_fields.items():
                        field_types.check(name, annotation)
                found.update(base._own_fields)
        return found

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_abstract_extension_type"):
            raise AssertionError(
                f"Cannot create an instance of {cls.__name__} because {cls.__name__} is an abstract base class."
            )
        made: Any = cls.__new__(cls)  # type: ignore[call-overload]
        made.__dict__["_under_construction"] = True
        made.__init__(*args, **kwargs)
        made._finish()
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        own = cls.__init__  # type: ignore[misc]
        if own is not ExtensionType.__init__:
            return inspect.signature(own)
        return _signature_of(cls)


def _signature_of(cls: Any) -> inspect.Signature:
    """A parameter for each field; a default is the value in the body of the class."""
    parameters: list[inspect.Parameter] = []
    for name in cls.fields:
        default = getattr(cls, name, inspect.Parameter.empty)
        defaulted = parameters and parameters[-1].default is not inspect.Parameter.empty
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if default is inspect.Parameter.empty and defaulted:
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name} without default follows "
                "field with default."
            )
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


class _Frozen:
    """Fields that only the constructor sets; what values and their specs share."""

    _of_spec = False

    def _fields_of(self) -> dict[str, Any]:
        raise TypeError(f"{type(self).__name__} has no fields")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._fields_of() and "_under_construction" in self.__dict__:
            self.__dict__[name] = value
            return
        raise AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
        )

    def __delattr__(self, name: str) -> None:
        if name in self._fields_of() and "_under_construction" in self.__dict__:
            del self.__dict__[name]
            return
        raise AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
        )

    def _set_all(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], signature: inspect.Signature
    ) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            self.__dict__[name] = value

    def _finish(self) -> None:
        fields = self._fields_of()
        missing = [name for name in fields if name not in self.__dict__]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            listed = ", ".join(f"`{name}`" for name in missing)
            raise AttributeError(
                f"Field{plural} {listed} of {type(self).__name__} not set by the constructor"
            )
        for name, annotation in fields.items():
            self.__dict__[name] = field_types.convert(
                self.__dict__[name], annotation, name, self._of_spec
            )
        self.__dict__.pop("_under_construction", None)

    def _values(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._fields_of()}


def with_values(cls: Any, values: dict[str, Any]) -> Any:
    """An instance of these field values, as they are: what the constructor checks was checked when they were made."""
    made: Any = cls.__new__(cls)
    made.__dict__.update(values)
    return made


class ExtensionType(_Frozen, metaclass=_Fields):
    """Base of classes of tensors: fields are annotated in the body of the class.

    A field may be of `tf.Tensor`, of another extension type or composite tensor, `int`, `float`, `str`, `bytes`,
    `bool`, `None`, `tf.TensorShape`, `tf.DType`, or a `Tuple`, `Mapping`, `Union` or `Optional` of such. Arguments
    are converted to what the annotations say; `__validate__` may check more. The constructor takes the fields in
    their order, unless the class has its own, which sets them. A class with `__name__ = "project.Name"` in its body can
    be in the signatures of functions of a SavedModel.

    Raises TypeError for arguments that do not fit.
    """

    _abstract_extension_type = True

    def __init__(self, *args: Any, **kwargs: Any):
        self._set_all(args, kwargs, _signature_of(type(self)))

    def _fields_of(self) -> dict[str, Any]:
        return type(self).fields

    def _finish(self) -> None:
        super()._finish()
        self.__validate__()

    def __validate__(self) -> None:
        """Checks the fields of a new instance; classes may define their own, which raises what it finds wrong."""

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"{type(self).__qualname__}({listed})"

    @property
    def _type_spec(self) -> Any:
        cls: Any = type(self)
        return with_values(
            cls.Spec, {k: field_types.described(v) for k, v in self._values().items()}
        )

    @property
    def _trace_key(self) -> Any:
        """What of it is no tensor, for a trace to depend on."""
        return tuple(_outline(v) for v in self._values().values())

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
    return [c for field in value._values().values() for c in field_types.components(field)]


def _unflatten(like: Any, parts: list[Any]) -> Any:
    each = iter(parts)
    if parts and all(isinstance(part, TypeSpec) for part in parts):
        cls: Any = type(like).Spec
    else:
        cls = type(like)
    return with_values(
        cls, {k: field_types.with_components(v, each) for k, v in like._values().items()}
    )


structure.register_composite(ExtensionType, _flatten, _unflatten)


class ExtensionTypeSpec(_Frozen, TypeSpec):
    """Base of the nested classes `Spec`: the fields of an extension type, with specs in the place of tensors."""

    _of_spec = True
    _value_class: Any = None

    def __init__(self, *args: Any, **kwargs: Any):
        self.__dict__["_under_construction"] = True
        self._set_all(args, kwargs, _signature_of(_Undefaulted(type(self))))
        self._finish()

    def _fields_of(self) -> dict[str, Any]:
        return type(self)._value_class.fields

    @property
    def value_type(self) -> type:
        return type(self)._value_class

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec of a value."""
        return type_spec_of(value)

    def _parts(self) -> tuple[Any, ...]:
        return tuple(self._values().values())

    def _serialize(self) -> tuple[Any, ...]:
        """(name, value) of each field."""
        return tuple((name, field_types.plain(value)) for name, value in self._values().items())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        """The spec of what `_serialize` gave. Raises ValueError where these are not the fields of the class."""
        values, fields = dict(serialization), cls._value_class.fields
        if values.keys() != fields.keys():
            raise ValueError(f"{cls.__qualname__} has the fields {list(fields)}, not {list(values)}")
        try:
            return with_values(
                cls, {name: field_types.convert(values[name], kind, name, True) for name, kind in fields.items()}
            )
        except TypeError as error:
            raise ValueError(f"{cls.__qualname__}: {error}") from None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or one that a spec describes, agrees with this."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return type(other) is type(self) and all(
            _compatible(mine, its) for mine, its in paired_parts(self, other)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The spec that says the most of what is true of this and all of `others`; None if none is."""
        if any(type(other) is not type(self) for other in others):
            return None
        found = {}
        for name, mine in self._values().items():
            common = _common(mine, [other.__dict__[name] for other in others])
            if common is NotImplemented:
                return None
            found[name] = common
        return with_values(type(self), found)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value that agrees with this spec agrees with `other`."""
        return type(other) is type(self) and self.most_specific_common_supertype([other]) == other

    @property
    def _component_specs(self) -> list[TensorSpec]:
        found: list[Any] = []
        for field in self._values().values():
            for spec in field_types.components(field):
                found += [spec] if isinstance(spec, TensorSpec) else component_specs(spec)
        return found

    def _from_components(self, parts: Any) -> Any:
        """A value of this spec of the tensors of its components."""
        each = iter(parts)
        return with_values(
            self._value_class, {k: _composed(v, each) for k, v in self._values().items()}
        )

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{k}={dict(v) if isinstance(v, Mapping) else v!r}" for k, v in self._values().items()
        )
        return f"{type(self).__qualname__}({shown})"

    def __reduce__(self) -> Any:
        return with_values, (type(self), self._values())

    __hash__ = TypeSpec.__hash__

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and all(
            _equal(mine, its) for mine, its in paired_parts(self, other)
        )


class _Undefaulted:
    """A class of values as its spec's constructor sees it: the same fields, with defaults for what is no tensor."""

    def __init__(self, spec_class: Any):
        cls = spec_class._value_class
        self.__name__ = f"{cls.__name__}.Spec"
        self.fields = cls.fields
        for name, annotation in cls.fields.items():
            if hasattr(cls, name) and annotation is not _native.Tensor:
                self.__dict__[name] = field_types.described(getattr(cls, name))


def _spec_class(cls: Any, own: Any) -> Any:
    """The class that describes values of `cls`; what the program wrote in it comes first."""
    body: dict[str, Any] = {"_value_class": cls, "__module__": cls.__module__}
    if isinstance(own, type):
        body.update({k: v for k, v in vars(own).items() if k not in ("__dict__", "__weakref__")})
        if "__init__" in body:
            body["__init__"] = _finishing(body["__init__"])
    name = f"{cls.__qualname__}.Spec"
    bases = tuple(
        b
        for b in getattr(own, "__bases__", ())
        if b is not object and not issubclass(ExtensionTypeSpec, b)
    )
    base = _spec_base(cls)
    made: Any = type(
        "Spec", (*bases, base) if base not in bases else bases, {**body, "_value_class": cls}
    )
    made.__qualname__ = name
    return made


def _spec_base(cls: Any) -> type:
    for base in cls.__mro__[1:]:
        found = base.__dict__.get("_spec_base")
        if found is not None:
            return found
    return ExtensionTypeSpec


def _finishing(constructor: Any) -> Any:
    """A constructor that a program wrote for its spec, after which the fields are checked and fixed."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_under_construction"] = True
        constructor(self, *args, **kwargs)
        self._finish()

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


def _composed(field: Any, parts: Any) -> Any:
    if isinstance(field, Mapping):
        made = {k: _composed(field[k], parts) for k in sorted(field)}
        return field_types.ImmutableDict((k, made[k]) for k in field)
    if isinstance(field, tuple):
        return tuple(_composed(v, parts) for v in field)
    if isinstance(field, TensorSpec):
        return next(parts)
    if isinstance(field, TypeSpec):
        spec: Any = field
        return from_components(spec, [next(parts) for _ in component_specs(spec)])
    return field


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """Specs of values that can be stacked and taken apart along a first axis."""

    def _batch(self, batch_size: int | None) -> Any:
        """The spec of several values in a stack."""
        return with_values(
            type(self), {k: _batched(v, batch_size) for k, v in self._values().items()}
        )

    def _unbatch(self) -> Any:
        """The spec of one value of a stack."""
        return with_values(type(self), {k: _unbatched(v) for k, v in self._values().items()})


def _batched(field: Any, size: int | None) -> Any:
    if isinstance(field, Mapping):
        return field_types.ImmutableDict((k, _batched(v, size)) for k, v in field.items())
    if isinstance(field, tuple):
        return tuple(_batched(v, size) for v in field)
    if isinstance(field, TensorShape):
        return TensorShape([size]).concatenate(field)
    if isinstance(field, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(field.shape), field.dtype)
    return batched(field, size) if isinstance(field, BatchableExtensionTypeSpec) else field


def _unbatched(field: Any) -> Any:
    if isinstance(field, Mapping):
        return field_types.ImmutableDict((k, _unbatched(v)) for k, v in field.items())
    if isinstance(field, tuple):
        return tuple(_unbatched(v) for v in field)
    if isinstance(field, TensorShape):
        return field[1:]
    if isinstance(field, TensorSpec):
        return TensorSpec(field.shape[1:], field.dtype)
    return unbatched(field) if isinstance(field, BatchableExtensionTypeSpec) else field


class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be stacked: datasets, `map_fn` and Keras batch and unbatch them.

    Each tensor of a batch has the batch's axis in front; a field of `tf.TensorShape` is the shape of the batch.
    """

    _abstract_extension_type = True
    _spec_base = BatchableExtensionTypeSpec
