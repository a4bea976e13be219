"""Values that have one component for each replica."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.specs.composite_tensor import CompositeTensor
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.structures import nest

__all__ = ["DistributedValues", "PerReplica", "PerReplicaSpec", "regroup", "select"]


class DistributedValues:
    """One value for each replica.

    Args:
      values: the values, in the order of the replicas.
    """

    def __init__(self, values: Any):
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The components, one for each replica."""
        return self._values

    def __str__(self) -> str:
        return self._text(str)

    def __repr__(self) -> str:
        return self._text(repr)

    def _text(self, of_value: Callable[[Any], str]) -> str:
        inner = ",\n".join(f"  {i}: {of_value(value)}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{inner}\n}}"


class PerReplicaSpec(TypeSpec):
    """The spec of `PerReplica` values.

    Args:
      *value_specs: the spec of each replica's component.
    """

    value_type: Any = property(lambda self: PerReplica)

    def __init__(self, *value_specs: Any):
        self._value_specs = tuple(value_specs)

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def _to_components(self, value: PerReplica) -> tuple[Any, ...]:
        return value.values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(components)


class PerReplica(DistributedValues, CompositeTensor):
    """What every replica has for itself.

    Args:
      values: one for each replica, in their order.
    """

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*map(type_spec_from_value, self._values))

    @property
    def dtype(self) -> Any:
        """The dtype of the components."""
        return self._values[0].dtype


nest.register_composite(
    PerReplica,
    lambda value: list(value.values),
    lambda like, parts: PerReplica(parts),
)


def select(replica: int, structure: Any) -> Any:
    """The part of one replica of a structure."""
    return nest.map_structure(
        lambda x: x.values[replica] if isinstance(x, DistributedValues) else x, structure
    )


def regroup(results: list[Any]) -> Any:
    """The results of all replicas as one structure: what is the same object everywhere stays that object."""
    first = results[0]
    if len(results) == 1:
        return first

    def together(*parts: Any) -> Any:
        if all(part is parts[0] for part in parts):
            return parts[0]
        if any(isinstance(part, (int, float, complex)) for part in parts):
            parts = tuple(convert_to_tensor(part) for part in parts)
        return PerReplica(parts)

    return nest.map_structure(together, *results)


boundaries(globals())
