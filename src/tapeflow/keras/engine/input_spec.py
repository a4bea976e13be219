"""What a layer asks of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import dtype_of, shape_of
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.math.casting import cast

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.symbolic import KerasTensor


class InputSpec:
    """What a layer accepts as an input: it is compared with every input before the call.

    Args:
      dtype: the dtype, or None for any.
      shape: the shape, with None for any size; or None for any.
      ndim: the number of axes, or None for any; taken from `shape` where that is given.
      max_ndim: the largest number of axes, or None.
      min_ndim: the smallest number of axes, or None.
      axes: a dict of axis: size for axes that need a size.
      allow_last_axis_squeeze: whether a last axis of 1 may be missing, or be there, too.
      name: the key of the input where inputs are a dict.
      optional: whether the input may be None.

    Raises:
      ValueError: for an axis of `axes` beyond the number of axes.

    >>> tf.keras.layers.InputSpec(min_ndim=2, axes={-1: 3})
    InputSpec(min_ndim=2, axes={-1: 3})
    """

    _keras_module = "keras"

    def __init__(
        self, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, ndim: int | None = None,
        max_ndim=None, min_ndim: int | None = None, axes: dict[Any, Any] | None = None,
        allow_last_axis_squeeze: bool = False, name=None, optional: bool = False,
    ):
        self.optional = optional
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = None
        if shape is not None:
            shape = TensorShape(shape)
            self.shape = None if shape.rank is None else tuple(shape.as_list())
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name
        if self.axes and (self.ndim is not None or self.max_ndim is not None):
            highest = (self.ndim if self.ndim is not None else self.max_ndim) - 1
            if max(self.axes) > highest:
                raise ValueError(
                    f"Axis {max(self.axes)} is greater than the maximum allowed value: {highest}"
                )

    def __repr__(self):
        parts = [
            f"dtype={self.dtype}" if self.dtype else "",
            f"shape={self.shape}" if self.shape else "",
            f"ndim={self.ndim}" if self.ndim else "",
            f"max_ndim={self.max_ndim}" if self.max_ndim else "",
            f"min_ndim={self.min_ndim}" if self.min_ndim else "",
            f"axes={self.axes}" if self.axes else "",
        ]
        return f"InputSpec({', '.join(part for part in parts if part)})"

    def get_config(self):
        """The constructor's arguments."""
        return {
            "dtype": self.dtype,
            "shape": self.shape,
            "ndim": self.ndim,
            "max_ndim": self.max_ndim,
            "min_ndim": self.min_ndim,
            "axes": self.axes,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A spec from the constructor's arguments."""
        return cls(**config)


def assert_input_compatibility(input_spec: InputSpec, inputs: TensorLike, layer_name: str):
    """Raises ValueError when inputs are not what input_spec asks for."""
    if not input_spec:
        return
    specs = nest.flatten(input_spec)
    inputs = nest.flatten(inputs)
    if len(inputs) != len(specs):
        raise ValueError(
            f'Layer "{layer_name}" expects {len(specs)} input(s), but it received {len(inputs)} '
            f"input tensors. Inputs received: {inputs}"
        )
    for index, (x, spec) in enumerate(zip(inputs, specs)):
        if spec is not None and not (x is None and spec.optional):
            problem = _problem(x, spec)
            if problem:
                raise ValueError(
                    f'Input {index} of layer "{layer_name}" is incompatible with the layer: {problem}'
                )


def _problem(x: Tensor, spec: InputSpec):
    shape = TensorShape(x.shape)
    if shape.rank is None:
        return None
    sizes, rank = shape.as_list(), shape.rank
    full = tuple(sizes)
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {full}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {full}"
    if spec.dtype is not None and x.dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={x.dtype}"
    for axis, size in spec.axes.items():
        if size is not None and sizes[axis] not in {size, None}:
            return (
                f"expected axis {axis} of input shape to have value {size}, but received input with "
                f"shape {full}"
            )
    if spec.shape is not None:
        for want, have in zip(spec.shape, sizes):
            if want is not None and have is not None and want != have:
                return f"expected shape={spec.shape}, found shape={full}"
    return None


def conformed(tensor: KerasTensor, value: TensorLike):
    """An input with the declared dtype and shape, and the rank, where a last axis of size 1 makes the difference."""
    if not isinstance(value, Tensor) or shape_of(tensor).rank is None or value.shape.rank is None:
        return value
    found: Tensor = value
    have, want = found.shape.rank, shape_of(tensor).rank
    if have == want + 1 and found.shape.as_list()[-1] == 1:
        found = squeeze(found, [-1])
    elif have == want - 1 and shape_of(tensor).as_list()[-1] == 1:
        found = expand_dims(found, -1)
    if (
        found.dtype != dtype_of(tensor)
        and found.dtype != dtypes.string
        and dtype_of(tensor) != dtypes.string
    ):
        found = cast(found, dtype_of(tensor))
    if found.shape.rank == want and found.shape.is_compatible_with(shape_of(tensor)):
        found.set_shape(shape_of(tensor))  # what data of a graph do not say, as the size of a batch
    return found


boundaries(globals())
