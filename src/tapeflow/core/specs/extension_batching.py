"""Extension types whose values can be stacked and taken apart along a first axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.specs import field_types, protocol
from tapeflow.core.specs.extension_fields import values_of, with_values
from tapeflow.core.specs.extension_spec import ExtensionTypeSpec
from tapeflow.core.specs.extension_type import ExtensionType
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.tensor_shape import TensorShape


class ExtensionTypeBatchEncoder:
    """Says how values of an extension type are batched, as the class attribute `__batch_encoder__`.

    Datasets, `tf.map_fn` and Keras stack the parts that `encode` gives, or take them apart, and `decode` the result.
    This one takes the tensors and composite tensors of the fields for the parts; a program's class of it may choose
    others, for values whose tensors do not stack.
    """

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """The spec of `batch_size` values in a stack; None for a size that is not known."""
        return with_values(type(spec), {k: _batched(v, batch_size) for k, v in values_of(spec).items()})

    def unbatch(self, spec: Any) -> Any:
        """The spec of one value of a stack."""
        return with_values(type(spec), {k: _unbatched(v) for k, v in values_of(spec).items()})

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """A structure of tensors and composite tensors that stands for a value.

        Args:
          spec: of the value.
          value: of the extension type.
          minimum_rank: how many dimensions each part has to have; 1 where it is to be taken apart.
        """
        return protocol.to_components(spec, value)

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The value of parts that `encode` gave, which may be stacked or taken apart since: `spec` is of that."""
        return protocol.from_components(spec, encoded_value)

    def encoding_specs(self, spec: Any) -> Any:
        """The structure of specs of what `encode` gives for values of `spec`."""
        return protocol.component_specs(spec)


class BatchableExtensionTypeSpec(ExtensionTypeSpec):
    """Specs of values that can be stacked and taken apart along a first axis."""

    __batch_encoder__: ExtensionTypeBatchEncoder = ExtensionTypeBatchEncoder()

    def _batch(self, batch_size: int | None) -> Any:
        """The spec of several values in a stack."""
        return self.__batch_encoder__.batch(self, batch_size)

    def _unbatch(self) -> Any:
        """The spec of one value of a stack."""
        return self.__batch_encoder__.unbatch(self)


class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be stacked: datasets, `map_fn` and Keras batch and unbatch them.

    Each tensor of a batch has the batch's axis in front; a field of `tf.TensorShape` is the shape of the batch. The
    class attribute `__batch_encoder__` may say otherwise: see `tf.experimental.ExtensionTypeBatchEncoder`.
    """

    _abstract_extension_type = True
    _tf_extension_type_spec_base = BatchableExtensionTypeSpec

    __batch_encoder__: Any = ExtensionTypeBatchEncoder()


def encoded(value: BatchableExtensionType, minimum_rank: int = 0) -> Any:
    """The parts of a value, as its class encodes it."""
    return value.__batch_encoder__.encode(protocol.type_spec_of(value), value, minimum_rank)


def decoded(spec: Any, parts: Any) -> Any:
    """The value of `spec` of its parts."""
    return spec.__batch_encoder__.decode(spec, parts)


def encoding_specs(spec: Any) -> Any:
    """The specs of the parts of values of `spec`."""
    return spec.__batch_encoder__.encoding_specs(spec)


def _batched(field: Any, size: int | None) -> Any:
    if isinstance(field, Mapping):
        return field_types.ImmutableDict((k, _batched(v, size)) for k, v in field.items())
    if isinstance(field, tuple):
        return tuple(_batched(v, size) for v in field)
    if isinstance(field, TensorShape):
        return TensorShape([size]).concatenate(field)
    return protocol.batched(field, size) if isinstance(field, TypeSpec) else field


def _unbatched(field: Any) -> Any:
    if isinstance(field, Mapping):
        return field_types.ImmutableDict((k, _unbatched(v)) for k, v in field.items())
    if isinstance(field, tuple):
        return tuple(_unbatched(v) for v in field)
    if isinstance(field, TensorShape):
        return field[1:]
    return protocol.unbatched(field) if isinstance(field, TypeSpec) else field
