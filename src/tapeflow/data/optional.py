"""`Optional`: an element that may be absent."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tapeflow._native import EagerTensor, Tensor
from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries, public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.data import element
from tapeflow.ops.array.rows import identity
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies


def _leaves() -> ModuleType:
    from tapeflow.data import leaves  # a circle: it takes Optionals apart

    return leaves


_NO_VALUE = "The given optional does not have a value. [Op:OptionalGetValue]"


@api("OptionalSpec")
class OptionalSpec(TypeSpec):
    """The type of an Optional.

    Args:
      element_spec: the structure of specs of its value.
    """

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: TensorSpec):
        self.element_spec = element_spec

    @property
    def value_type(self):
        """The class Optional."""
        return Optional

    @staticmethod
    def from_value(value):
        """The spec of an Optional."""
        return OptionalSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value):
        """Whether an Optional, or one of another spec, has a value as this spec says."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return isinstance(other, OptionalSpec) and element.specs_agree(
            self.element_spec, other.element_spec
        )

    @property
    def _component_specs(self):
        return [TensorSpec(shape, dtype) for dtype, shape in _leaves().outputs(self)]

    def _to_components(self, value):
        return _leaves().to_tensors(self, value)

    def _from_components(self, components):
        return _leaves().from_tensors(self, components)

    def _parts(self):
        return (self.element_spec,)

    def __hash__(self):
        return hash(OptionalSpec)

    def __repr__(self):
        return f"OptionalSpec({self.element_spec!r})"


@public_methods
class Optional:
    """An element that may be absent. Made by `from_value`, `empty` and `Iterator.get_next_as_optional`.

    Args:
      value: the element, or None.
      spec: the structure of its specs.
      present: whether there is one.
    """

    def __init__(self, value: Any, spec: TensorSpec, present: Tensor | bool):
        self.value = value
        self.present = present
        self._spec = spec

    @staticmethod
    def from_value(value: TensorLike):
        """An Optional that holds `value`."""
        value = element.to_element(value)
        return Optional(value, element.spec_of(value), True)

    @staticmethod
    def empty(element_spec: TensorSpec):
        """An Optional without a value."""
        return Optional(None, element_spec, False)

    @property
    def element_spec(self):
        """The structure of specs of the value."""
        return self._spec

    value_structure = element_spec

    @property
    def _type_spec(self):
        return OptionalSpec(self._spec)

    @property
    def _trace_key(self):
        return repr(self._type_spec)

    def has_value(self, name: str | None = None):
        """A scalar bool tensor."""
        return convert_to_tensor(self.present)

    def get_value(self, name: str | None = None):
        """The value; raises InvalidArgumentError when there is none."""
        there = self.present
        if isinstance(there, Tensor) and not isinstance(there, EagerTensor):  # known when the graph runs

            with control_dependencies([Assert(there, [_NO_VALUE])]):
                return element.map_leaves(lambda x: identity(x) if isinstance(x, Tensor) else x, self.value)
        if not there:
            raise InvalidArgumentError(None, None, _NO_VALUE)
        return self.value


boundaries(globals())
