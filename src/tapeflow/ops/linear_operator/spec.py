"""Specs of linear operators that libraries define, so that functions and control flow take them apart."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value


class LinearOperatorSpec(TypeSpec):
    """The spec of an operator: the specs of its tensors, and its other parameters.

    Args:
      operator: its class.
      specs: pairs of a parameter's name and the spec of its tensor.
      parameters: pairs of a parameter's name and its value.
    """

    def __init__(self, operator: Any, specs: Any, parameters: Any):
        self._operator, self._specs, self._others = operator, tuple(specs), tuple(parameters)

    @property
    def value_type(self) -> type:
        return self._operator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._operator, self._specs, self._others)

    @property
    def _component_specs(self) -> dict[str, Any]:
        return dict(self._specs)

    def _to_components(self, value: Any) -> dict[str, Any]:
        return {name: getattr(value, name, value.parameters.get(name)) for name, _ in self._specs}

    def _from_components(self, components: dict[str, Any]) -> Any:
        return self._operator(**components, **dict(self._others))

    @classmethod
    def of(cls, value: Any) -> LinearOperatorSpec:
        """The spec of an operator."""
        fields = getattr(type(value), "_composite_tensor_fields", ())
        given = {name: x for name, x in value.parameters.items() if name != "self"}
        specs = [(name, type_spec_from_value(given[name])) for name in fields if _is_tensor(given.get(name))]
        tensors = {name for name, _ in specs}
        return cls(type(value), specs, [(name, x) for name, x in given.items() if name not in tensors])


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (_native.Tensor, _native.Variable)) or hasattr(value, "_type_spec")


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """A decorator of a class of operators: functions take its operators apart into their tensors.

    Args:
      cls: the class; `_composite_tensor_fields` has the names of the parameters that are tensors.
      module_name: where the class is public.
    """
    if "_type_spec" not in vars(cls):
        cls._type_spec = property(LinearOperatorSpec.of)
    return cls
