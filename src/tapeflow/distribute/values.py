"""Values that have one component for each replica."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest

__all__ = ["DistributedValues", "PerReplica", "regroup", "select"]


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

    def __repr__(self) -> str:
        inner = ",\n".join(f"  {i}: {value!s}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{inner}\n}}"


class PerReplica(DistributedValues):
    """What every replica has for itself."""

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
