"""Specs of linear operators, by which functions, control flow and saved models take them apart."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.protocol import from_components, to_components, type_spec_of
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.structures import nest
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.state.variable_spec import VariableSpec


class LinearOperatorSpec(TypeSpec):
    """The spec of an operator: the specs of its tensors, and its other parameters.

    Args:
      operator: its class.
      specs: pairs of a parameter's name and the spec of its tensor or operator, or a tuple of such.
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
        return {name: _parts_of(value, name) for name, _ in self._specs}

    def _from_components(self, components: dict[str, Any]) -> Any:
        return self._operator(**components, **dict(self._others))

    def of_specs(self, specs: list[Any]) -> LinearOperatorSpec:
        """The spec of an operator whose parts have other specs."""
        packed = nest.pack_sequence_as([spec for _, spec in self._specs], specs)
        names = [name for name, _ in self._specs]
        return LinearOperatorSpec(self._operator, zip(names, packed, strict=True), self._others)

    @classmethod
    def of(cls, value: Any) -> LinearOperatorSpec:
        """The spec of an operator."""
        given = {name: x for name, x in value.parameters.items() if name != "self"}
        parts = {name: _parts_of(value, name) for name in _fields(value, given)}
        specs = [(name, nest.map_structure(_spec_of, part)) for name, part in parts.items()]
        return cls(type(value), specs, [(name, x) for name, x in given.items() if name not in parts])


def flat_parts(value: Any) -> list[Any]:
    """The tensors and operators that an operator is made of."""
    spec = LinearOperatorSpec.of(value)
    return nest.flatten(to_components(spec, value))


def with_flat_parts(like: Any, parts: list[Any]) -> Any:
    """An operator, or its spec, of other parts."""
    spec = type_spec_of(like)
    if parts and all(isinstance(part, TypeSpec) for part in parts):
        return spec.of_specs(parts)
    return from_components(spec, nest.pack_sequence_as(to_components(spec, like), parts))


def _fields(value: Any, given: dict[str, Any]) -> list[str]:
    """The names of the parameters that tensors are among."""
    named = getattr(type(value), "_composite_tensor_fields", None)
    if named is not None:
        return [name for name in named if _is_tensor(given.get(name))]
    made_of = value.tensor_parameters
    return [
        name for name, x in given.items()
        if _is_tensor(x) or (name in made_of and getattr(value, name, x) is not None)
    ]  # fmt: skip


def _parts_of(value: Any, name: str) -> Any:
    """A parameter, made of tensors and operators in tuples."""
    given = value.parameters[name]
    if not _is_tensor(given):
        given = getattr(value, name, given)
    return _tuples(given)


def _tuples(given: Any) -> Any:
    if isinstance(given, (list, tuple)) and any(map(_is_tensor, nest.flatten(given))):
        return tuple(_tuples(each) for each in given)
    return given if _is_tensor(given) else convert_to_tensor(given)


def _spec_of(part: Any) -> Any:
    return VariableSpec.from_value(part) if isinstance(part, Variable) else type_spec_from_value(part)


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
