"""Nested Python values as `StructuredValue` messages, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow import _native, protos
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.files import tensor_proto
from tapeflow.core.indexed_slices import IndexedSlicesSpec
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.anonymous_extension_type import AnonymousExtensionTypeSpec
from tapeflow.core.specs.bounded_tensor_spec import BoundedTensorSpec
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec
from tapeflow.core.specs.protocol import component_specs, deserialized, parts_of_spec, serialized
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.structures.structure import fields_of
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.iterating import IteratorSpec
from tapeflow.data.optional import OptionalSpec
from tapeflow.graph.interchange import attributes
from tapeflow.ops import api_dispatch  # noqa: F401 (compares values of extension types)
from tapeflow.ops.lists.tensor_array_spec import TensorArraySpec
from tapeflow.ops.ragged.math import RaggedTensorSpec
from tapeflow.saved_model.named_tuples import named_tuple_class

# Specs by their number in TypeSpecProto.TypeSpecClass.
_SPECS: dict[int, Any] = {
    1: SparseTensorSpec,
    2: IndexedSlicesSpec,
    3: RaggedTensorSpec,
    4: TensorArraySpec,
}
# Those of arguments of functions that can be loaded, but are not written.
_ONLY_READ: dict[int, Any] = {5: DatasetSpec, 6: IteratorSpec, 7: OptionalSpec}
_REGISTERED = 12  # a class that the program has registered under a name
_EXTENSION = 13  # an extension type that has a name
# How deep values may be nested: what comes from a file must not exhaust the stack.
_DEEPEST = 100


class Unknown:
    """Stands for a value that no message can hold."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = Unknown()


def encode(nested_structure: Any) -> Any:
    """The message of a value. Raises TypeError for a value that no message can hold."""
    made = protos.StructuredValue()
    _encode(nested_structure, made)
    return made


def decode_proto(proto: Any) -> Any:
    """The value of a message. Raises ValueError for a message that has none."""
    return decode(proto)


def _encode(value: Any, made: Any) -> None:
    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise TypeError(f"{value} is too large for a SavedModel")
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(_shape(value))
    elif isinstance(value, BoundedTensorSpec):
        _put_spec(value, made.bounded_tensor_spec_value)
        made.bounded_tensor_spec_value.minimum.CopyFrom(
            tensor_proto.make_tensor_proto(value.minimum)
        )
        made.bounded_tensor_spec_value.maximum.CopyFrom(
            tensor_proto.make_tensor_proto(value.maximum)
        )
    elif isinstance(value, TensorSpec):
        _put_spec(value, made.tensor_spec_value)
    elif isinstance(value, TypeSpec):
        _put_type_spec(value, made.type_spec_value)
    elif isinstance(value, _native.EagerTensor):
        made.tensor_value.CopyFrom(tensor_proto.of_tensor(value))
    elif isinstance(value, (np.ndarray, np.generic)):
        made.numpy_value.CopyFrom(tensor_proto.make_tensor_proto(np.asarray(value)))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        for key, item in zip(fields_of(value), value, strict=True):
            pair = made.named_tuple_value.values.add(key=key)
            _encode(item, pair.value)
    elif isinstance(value, (list, tuple)):
        field = made.list_value if isinstance(value, list) else made.tuple_value
        field.SetInParent()
        for item in value:
            _encode(item, field.values.add())
    elif isinstance(value, Mapping):
        made.dict_value.SetInParent()
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"The keys of a dict in a SavedModel are strings, not {key!r}")
            _encode(item, made.dict_value.fields[key])
    else:
        raise TypeError(f"No encoder for object {value} of type {type(value)}.")


def _shape(shape: TensorShape) -> Any:
    return attributes.of(shape, "shape").shape


def _put_spec(spec: Any, made: Any) -> None:
    made.shape.CopyFrom(_shape(spec.shape))
    made.dtype = spec.dtype.as_datatype_enum
    if spec.name is not None:
        made.name = spec.name


def _put_type_spec(spec: Any, made: Any) -> None:
    for number, kind in _SPECS.items():
        if type(spec) is kind:
            made.type_spec_class = number
            made.type_spec_class_name = kind.__name__
            made.num_flat_components = len(component_specs(spec))
            _encode(parts_of_spec(spec), made.type_state)
            return
    name = type_spec_registry.name_of(type(spec))
    if name is not None:
        made.type_spec_class = _EXTENSION if isinstance(spec, ExtensionTypeSpec) else _REGISTERED
        made.type_spec_class_name = name
        made.num_flat_components = len(nest.flatten(component_specs(spec), expand_composites=True))
        _encode(serialized(spec), made.type_state)
        return
    raise TypeError(f"No encoder for object {spec} of type {type(spec)}.")


def known(value: Any) -> Any:
    """A value with `UNKNOWN` for every leaf that no message can hold."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(known, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(known, value))
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            return UNKNOWN
        return {key: known(item) for key, item in value.items()}
    try:
        encode(value)
    except (TypeError, ValueError):
        return UNKNOWN
    return value


def decode(value: Any, depth: int = 0) -> Any:
    """The value of a message. Raises ValueError for a message that no value has."""
    if depth > _DEEPEST:
        raise ValueError(f"A structure is nested more than {_DEEPEST} deep")
    kind = value.WhichOneof("kind")
    if kind not in _DECODERS:
        raise ValueError(f"A structure has a value of the kind {kind}, which is not known")
    return _DECODERS[kind](getattr(value, kind), depth + 1)


def _spec(value: Any, _: int) -> TensorSpec:
    return TensorSpec(
        attributes.shape_of(value.shape, "a spec"), _dtype(value.dtype), value.name or None
    )


def _bounded(value: Any, _: int) -> BoundedTensorSpec:
    minimum, maximum = (tensor_proto.make_ndarray(v) for v in (value.minimum, value.maximum))
    shape = attributes.shape_of(value.shape, "a spec")
    return BoundedTensorSpec(shape, _dtype(value.dtype), minimum, maximum, value.name or None)


def _dtype(number: int, _: int = 0) -> DType:
    try:
        return as_dtype(number)
    except TypeError:
        raise ValueError(f"{number} is no DataType") from None


def _type_spec(value: Any, depth: int) -> Any:
    kind = (_SPECS | _ONLY_READ).get(value.type_spec_class)
    if value.type_spec_class == _EXTENSION:
        return _extension(value, depth)
    if value.type_spec_class == _REGISTERED:
        registered = type_spec_registry.lookup(value.type_spec_class_name)
        return deserialized(registered, decode(value.type_state, depth))
    if kind is None:
        name = value.type_spec_class_name or value.type_spec_class
        raise ValueError(f"The type '{name}' is not known here")
    parts = decode(value.type_state, depth)
    try:
        return kind(*parts)
    except (TypeError, ValueError) as error:
        raise ValueError(f"A {kind.__name__} cannot be made of {parts}: {error}") from None


def _extension(value: Any, depth: int) -> Any:
    fields = decode(value.type_state, depth)
    if not isinstance(fields, tuple) or not all(
        isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) for each in fields
    ):
        raise ValueError(f"The fields of the extension type '{value.type_spec_class_name}' are malformed")
    try:
        registered = type_spec_registry.lookup(value.type_spec_class_name)
    except ValueError:
        return deserialized(AnonymousExtensionTypeSpec, fields)
    return deserialized(registered, fields)


def _named_tuple(value: Any, depth: int) -> Any:
    fields = {pair.key: decode(pair.value, depth) for pair in value.values}
    return named_tuple_class(value.name, tuple(fields))(**fields)


_DECODERS: dict[str, Callable[[Any, int], Any]] = {
    "none_value": lambda value, _: None,
    "float64_value": lambda value, _: value,
    "int64_value": lambda value, _: value,
    "string_value": lambda value, _: value,
    "bool_value": lambda value, _: value,
    "tensor_shape_value": lambda value, _: attributes.shape_of(value, "a structure"),
    "tensor_dtype_value": _dtype,
    "tensor_spec_value": _spec,
    "type_spec_value": _type_spec,
    "bounded_tensor_spec_value": _bounded,
    "list_value": lambda value, depth: [decode(v, depth) for v in value.values],
    "tuple_value": lambda value, depth: tuple(decode(v, depth) for v in value.values),
    "dict_value": lambda value, depth: {k: decode(value.fields[k], depth) for k in sorted(value.fields)},
    "named_tuple_value": _named_tuple,
    "tensor_value": lambda value, _: tensor_proto.to_tensor(value),
    "numpy_value": lambda value, _: tensor_proto.make_ndarray(value),
}
