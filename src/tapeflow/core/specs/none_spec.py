"""`NoneTensorSpec`: the spec of None in the place of a tensor."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.tensor_spec import TypeSpec


@api("NoneTensorSpec")
@type_spec_registry.register("tf.NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """The spec of None."""

    @property
    def value_type(self) -> type:
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> list[Any]:
        return []

    def _to_components(self, value: Any) -> list[Any]:
        return []

    def _from_components(self, components: Any) -> None:
        return None

    @staticmethod
    def from_value(value: Any) -> NoneTensorSpec:
        """The spec of None."""
        return NoneTensorSpec()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value is None, or a spec that of None."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """This spec. Raises ValueError for a spec of something else."""
        if not isinstance(other, NoneTensorSpec):
            raise ValueError(f"No `TypeSpec` is compatible with both {self} and {other}.")
        return self
