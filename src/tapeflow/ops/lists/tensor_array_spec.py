"""`TensorArraySpec`: the dtype of a TensorArray and what is known of the shape of its elements."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes, tensor_shape
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.protocol import parts_of_spec, type_spec_of
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.ops.lists.tensor_array import TensorArray


@api("TensorArraySpec")
@type_spec_registry.register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """Describes a TensorArray.

    Args:
      element_shape: of each element.
      dtype: of the elements.
      dynamic_size: whether the array grows with what is written.
      infer_shape: whether the shape of the elements is that of what is written.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(
        self, element_shape: ShapeLike | None = None, dtype: DTypeLike = dtypes.float32,
        dynamic_size: bool = False, infer_shape: bool = True,
    ):
        self._element_shape = tensor_shape.as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @property
    def value_type(self):
        return TensorArray

    @staticmethod
    def from_value(value: int | TensorArray):
        """The spec of a TensorArray. Raises TypeError for anything else."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`.")
        return type_spec_of(value)

    def _parts(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: TensorArray):
        return [value.flow]

    def _from_components(self, components: Any):
        (flow,) = components
        return TensorArray(
            self._dtype, dynamic_size=self._dynamic_size, flow=flow, infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )  # fmt: skip

    def is_compatible_with(self, spec_or_value: TensorArray):
        """Whether a TensorArray, or one that a spec describes, agrees with this spec."""
        if isinstance(spec_or_value, TensorArray):
            spec_or_value = type_spec_of(spec_or_value)
        if not isinstance(spec_or_value, TensorArraySpec):
            return False
        shape, dtype, dynamic_size, _ = parts_of_spec(spec_or_value)
        return (
            self._dtype == dtype
            and self._dynamic_size == dynamic_size
            and self._element_shape.is_compatible_with(shape)
        )

    def __repr__(self):
        return f"TensorArraySpec({', '.join(repr(part) for part in self._parts())})"
