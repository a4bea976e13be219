"""`TensorSpec`: the dtype and what is known of the shape of a tensor, as `tf.function` signatures give it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes, tensor_shape
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import defines
from tapeflow.core.specs import protocol
from tapeflow.core.structures import structure

# The classes of which the values are tensors; the packages that define them add theirs.
_tensor_classes: tuple[Any, ...] = ()


def register_tensor_class(cls: type) -> None:
    """Let instances of `cls` be what a `TensorSpec` describes."""
    global _tensor_classes
    _tensor_classes = (*_tensor_classes, cls)


@api("TypeSpec")
class TypeSpec:
    """What all descriptions of values share: equality, subtypes and compatibility by their parts.

    A program's own spec defines `value_type`, `_serialize` (the arguments that make an equal spec), `_component_specs`,
    `_to_components` and `_from_components`.
    """

    __slots__ = ()

    def _parts(self) -> tuple[Any, ...]:
        """The arguments that make an equal spec."""
        if not defines(type(self), TypeSpec, "_serialize"):
            raise TypeError(f"{type(self).__name__} describes nothing by itself")
        return self._serialize()

    def _serialize(self) -> tuple[Any, ...]:
        """The arguments that make an equal spec."""
        return self._parts()

    @classmethod
    def _deserialize(cls, serialization: Any) -> Self:
        """The spec of what `_serialize` gave."""
        return cls(*serialization)

    @property
    def value_type(self) -> type:
        """The class of the values that this describes."""
        raise TypeError(f"{type(self).__name__} describes nothing by itself")

    # Values as the tensors that they are made of.

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """The value, as one that this describes. Raises TypeError for one that cannot be."""
        if self.is_compatible_with(value):
            return value
        raise TypeError(f"Can not cast {value!r} to {self!r}")

    def flatten(self) -> list[Any]:
        """The specs of the tensors that a value is made of."""
        return self._flat_tensor_specs

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that a value is made of."""
        return self._to_tensor_list(value)

    def from_tensors(self, tensors: Any) -> Any:
        """A value of the tensors, which an iterator gives."""
        return self._from_tensor_list([next(tensors) for _ in self._flat_tensor_specs])

    def _without_tensor_names(self) -> Any:
        """The spec without the names of tensors."""
        return self

    def _with_tensor_ranks_only(self) -> Any:
        """The spec with the ranks of tensors, not their sizes."""
        return self

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """The specs of the tensors that a value is made of."""
        own = getattr(self, "_component_specs", self)
        leaves = [own] if own is self else structure.flatten(own)
        return [
            spec
            for leaf in leaves
            for spec in ([leaf] if leaf is self else protocol.flat_specs(leaf))
        ]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        """The tensors that a value is made of. Raises ValueError for a value that this does not describe."""
        if not self.is_compatible_with(value):
            raise ValueError(f"Value {value} is not convertible to a tensor with spec {self}")
        found: list[Any] = []
        components = self._to_components(value)  # type: ignore[attr-defined]
        specs = structure.flatten(self._component_specs)  # type: ignore[attr-defined]
        for leaf, spec in zip(structure.flatten(components), specs, strict=True):
            found += [leaf] if isinstance(spec, TensorSpec) else spec._to_tensor_list(leaf)
        return found

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """The value of these tensors. Raises ValueError where they do not fit."""
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list) or not all(
            spec.is_compatible_with(tensor) for spec, tensor in zip(specs, tensor_list, strict=True)
        ):
            raise ValueError(
                f"Cannot create a value of {self} from incompatible tensors: {tensor_list}"
            )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        """The value of tensors that are known to fit."""
        each = iter(tensor_list)
        wanted = self._component_specs  # type: ignore[attr-defined]
        parts = [
            next(each)
            if isinstance(spec, TensorSpec)
            else protocol.from_fitting_tensors(spec, [next(each) for _ in protocol.flat_specs(spec)])
            for spec in structure.flatten(wanted)
        ]
        return self._from_components(structure.pack_sequence_as(wanted, parts))  # type: ignore[attr-defined]

    def _from_placeholders(self, make: Callable[..., Any]) -> Any:
        """A value whose tensors `make(dtype, sizes)` gives; sizes are None for a shape of unknown rank."""

        def made(spec: Any) -> Any:
            if not isinstance(spec, TensorSpec):
                return protocol.from_placeholders(spec, make)
            return make(spec.dtype, None if spec.shape.rank is None else tuple(spec.shape.as_list()))

        wanted = self._component_specs  # type: ignore[attr-defined]
        parts = [made(spec) for spec in structure.flatten(wanted)]
        return self._from_components(structure.pack_sequence_as(wanted, parts))  # type: ignore[attr-defined]

    # What it agrees with.

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each value that agrees with this spec agrees with `other`."""
        return type(other) is type(self) and all(
            _part_is_subtype(mine, its)
            for mine, its in protocol.paired_parts(self, other)
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or some value of a spec, agrees with this spec."""
        if not isinstance(spec_or_value, TypeSpec):
            from tapeflow.core.specs.type_specs import type_spec_from_value

            spec_or_value = type_spec_from_value(spec_or_value)
        return type(spec_or_value) is type(self) and all(
            _parts_are_compatible(mine, its)
            for mine, its in protocol.paired_parts(self, spec_or_value)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Self | None:
        """The spec that says the most of what is true of this and all of `others`; None if none is."""
        if any(type(other) is not type(self) for other in others):
            return None
        parts = []
        for mine, *theirs in zip(self._parts(), *map(protocol.parts_of_spec, others), strict=True):
            if isinstance(mine, (tensor_shape.TensorShape, TypeSpec)):
                mine = mine.most_specific_common_supertype(theirs)
                if mine is None:
                    return None
            elif any(not _equal(mine, its) for its in theirs):
                return None
            parts.append(mine)
        return self._deserialize(tuple(parts))

    def most_specific_compatible_type(self, other: Any) -> Self:
        """As `most_specific_common_supertype`; raises ValueError where that is None."""
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and all(
            _equal(mine, its) for mine, its in protocol.paired_parts(self, other)
        )

    def __hash__(self) -> int:
        parts = [p.tobytes() if isinstance(p, np.ndarray) else p for p in protocol.parts_of_spec(self)]
        return hash((type(self), *parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._parts()!r}"

    def __reduce__(self) -> Any:
        return type(self), self._parts()

    # Specs that libraries derive compare by these, under the names that private methods get.

    @staticmethod
    def _TypeSpec__make_cmp_key(value: Any) -> Any:
        return comparison_key(value)

    @staticmethod
    def _TypeSpec__is_compatible(a: TensorLike, b: TensorLike) -> bool:
        return are_compatible(a, b)


def comparison_key(value: Any) -> Any:
    """A hashable value that equals that of an equal part of a spec, whatever lists, dicts and arrays it has."""
    if isinstance(value, dict):
        return tuple((key, comparison_key(value[key])) for key in sorted(value))
    if isinstance(value, (list, tuple)):
        inside = tuple(map(comparison_key, value))
        return inside if type(value) is tuple else (type(value), inside)
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, tuple(value.ravel().tolist())
    return value


def are_compatible(a: Any, b: Any) -> bool:
    """Whether parts of two specs agree; those inside of lists, tuples and dicts one by one."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(are_compatible, a, b))
    if isinstance(a, dict):
        return sorted(a) == sorted(b) and all(are_compatible(a[key], b[key]) for key in a)
    return _parts_are_compatible(a, b)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a == b


def _part_is_subtype(mine: Any, its: Any) -> bool:
    if isinstance(mine, tensor_shape.TensorShape):
        return mine.is_subtype_of(its)
    return _equal(mine, its)


def _parts_are_compatible(mine: Any, its: Any) -> bool:
    if isinstance(mine, (tensor_shape.TensorShape, TypeSpec, dtypes.DType)):
        return type(its) is type(mine) and mine.is_compatible_with(its)
    return _equal(mine, its)


@api("TensorSpec")
class TensorSpec(TypeSpec):
    """Describes a tensor.

    Args:
      shape: whatever `TensorShape` accepts.
      dtype: whatever `as_dtype` accepts.
      name: the name of an argument, or None.
    """

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape = tensor_shape.as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def _component_specs(self) -> TensorSpec:
        """The spec itself: a tensor is its only component."""
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def name(self) -> str | None:
        return self._name

    def _batch(self, batch_size: int | None) -> TensorSpec:
        """The spec of several of them in a stack."""
        return TensorSpec(tensor_shape.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        """The spec of one of a stack."""
        return TensorSpec(self._shape[1:], self._dtype)

    @property
    def value_type(self) -> type:
        return _tensor_classes[0] if _tensor_classes else object

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The spec that says the most of what is true of this and all of `others`; None if none is."""
        if any(
            type(other) is not type(self) or (other.dtype, other.name) != (self._dtype, self._name)
            for other in others
        ):
            return None
        shape = self._shape.most_specific_common_supertype([other.shape for other in others])
        return TensorSpec(shape, self._dtype, self._name)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether each tensor that agrees with this spec agrees with `other`; a name is one more demand of a spec."""
        return (
            isinstance(other, TensorSpec)
            and self._dtype == other.dtype
            and self._name in (None, other.name)
            and self._shape.is_subtype_of(other.shape)
        )

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Self:
        """The spec of a tensor with the shape and dtype of `spec`, and its name if none is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor. Raises ValueError if `tensor` is none."""
        if not isinstance(tensor, _tensor_classes):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        if name is None and not hasattr(tensor, "numpy"):  # of a graph, where tensors have names
            name = tensor.op.name
        return TensorSpec(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtype and shape of a tensor or `TensorSpec` agree with these; False for others."""
        classes: tuple[Any, ...] = (TensorSpec, *_tensor_classes)
        if not isinstance(spec_or_tensor, classes):
            return False
        return self._dtype.is_compatible_with(
            spec_or_tensor.dtype
        ) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


def placeholder_shape(spec: TensorSpec) -> tuple[int | None, ...] | None:
    """The shape of a spec as a tuple; None if the rank is not known."""
    return None if spec.shape.rank is None else tuple(spec.shape.as_list())


structure.register_specs(TypeSpec, TensorSpec)
