"""`BoundedTensorSpec`: a tensor and the bounds of its elements."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.specs.tensor_spec import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """Describes a tensor and the bounds of its elements.

    Args:
      shape, dtype, name: as of `TensorSpec`.
      minimum, maximum: the bounds, both included; they broadcast to the shape.

    Raises ValueError if a bound is None, no number, or does not broadcast to the shape.
    """

    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        if value is None:
            raise ValueError(f"`{which}` can not be None.")
        array = np.array(value, dtype=self._dtype.as_numpy_dtype)
        known = array.shape if self._shape.rank is None else self._shape.as_list()
        dims = [1 if d is None else d for d in known]
        try:
            np.broadcast_shapes(array.shape, tuple(dims))
        except ValueError:
            raise ValueError(
                f"`{which}` {value} is not compatible with shape {self._shape}."
            ) from None
        array.setflags(write=False)
        return array

    @property
    def minimum(self) -> np.ndarray:
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        return self._maximum

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Self:
        """As `TensorSpec.from_spec`; without bounds in `spec`, those of the dtype."""
        dtype = dtypes.as_dtype(spec.dtype)  # also of libraries' specs, which have NumPy's
        minimum = getattr(spec, "minimum", dtype.min)
        maximum = getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )
