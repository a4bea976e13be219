"""`VariableSpec`: what is known of a variable that a function or a composite tensor takes."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import dtype_of
from tapeflow.ops.state.variable import Variable


class VariableSpec(TensorSpec):
    """The spec of a variable: its shape and dtype, and whether it is trainable.

    Args:
      shape: of its value.
      dtype: of its value.
      trainable: whether it is trainable.
      alias_id: which of several arguments are the same variable; None: none is said to be.
    """

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, trainable: bool = True, alias_id: Any = None):
        super().__init__(shape, dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @property
    def value_type(self) -> type:
        return Variable

    def _parts(self) -> tuple[Any, ...]:
        return (self.shape, self.dtype, self.trainable, self.alias_id)

    @classmethod
    def from_value(cls, value: Any) -> VariableSpec:
        """The spec of a variable."""
        return cls(value.shape, dtype_of(value), value.trainable)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a variable, or a spec of one, agrees with this."""
        if not isinstance(spec_or_tensor, (VariableSpec, Variable)):
            return False
        fits = TensorShape(self.shape).is_compatible_with(spec_or_tensor.shape)
        return fits and self.dtype == spec_or_tensor.dtype and self.trainable == spec_or_tensor.trainable

    def _to_components(self, value: Any) -> list[Any]:
        return [value]

    def _from_components(self, components: Any) -> Any:
        return components[0]

    def __repr__(self) -> str:
        trainable, alias = self.trainable, self.alias_id
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={trainable!r}, alias_id={alias!r})"
