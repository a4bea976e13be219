"""The cross product of vectors in three dimensions."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _rule(call: ShapeCall):
    shape = shapes.at_least(shapes.merged_shape(call), 1)
    return [None if shape is None else (*shape[:-1], shapes.exactly(shape[-1], 3))]


@op("Cross", "a: T, b: T -> product: T", types={"T": REAL}, shape=_rule)
def Cross(xp: ModuleType, a: Array, b: Array):
    if a.shape != b.shape:
        raise invalid(
            f"Both inputs must be of same shape: {shape_text(a.shape)} vs. {shape_text(b.shape)}"
        )
    if a.ndim < 1:
        raise invalid("Input must be at least 1D")
    if a.shape[-1] != 3:
        raise FailedPreconditionError(
            None, None, "Cross-products are only defined for 3-element vectors."
        )
    (x, y, z), (u, v, w) = (xp.moveaxis(t, -1, 0) for t in (a, b))
    return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


@Cross.gradient(needs="a, b")
def _(call: GradientCall, dy: Tensor):
    return Cross(call.b, dy), Cross(dy, call.a)


@Cross.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3), rng.normal(3))
    yield Sample(rng.normal(2, 4, 3), rng.normal(2, 4, 3))
    yield Sample(rng.normal(0, 3), rng.normal(0, 3))
    yield Sample(rng.normal(2, 3), rng.normal(3), raises=InvalidArgumentError)
    yield Sample(rng.normal(2), rng.normal(2), raises=FailedPreconditionError)


Cross.reference(lambda a, b: np.cross(a, b))


@api("linalg.cross", v1="cross")
@tensor_function
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Compute the cross products of vectors of three elements.

    Args:
      a, b: real tensors `[..., 3]` of one dtype and shape.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and shape.

    Raises:
      FailedPreconditionError: for vectors of another length.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 0, 1], dtype=int32)>
    """
    return Cross(a, b)
