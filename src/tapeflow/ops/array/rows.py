"""Ops that pass a tensor on as it is, and ops that look at its shape."""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, ShapeLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import shapes
from tapeflow.ops.raw_function import raw_function
from tapeflow.ops.signature import shape as shape_attr
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


@op(
    "Identity", "input: T -> output: T", types={"T": ANY}, shape=shapes.elementwise, promotes="weakness",
    forwards=True,
    foldable=True,
)
def Identity(xp: ModuleType, input: Array):
    return input


@Identity.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy


@Identity.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4))
    yield Sample(rng.normal())
    yield Sample(rng.normal(0, 2))
    yield Sample(np.array([b"a", b"bc"], object))


@Identity.reference
def _(input: np.ndarray):
    return input


@api("identity")
@tensor_function
def identity(input: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with the value of `input`, of any dtype and shape."""
    return Identity(input)


@api("identity_n")
@raw_function("IdentityN")
@tensor_function
def identity_n(input: Any, name: str | None = None):
    """The identities of a list of tensors of any dtypes."""
    return [Identity(x) for x in input]


@op(
    "GuaranteeConst", "input: T -> output: T", types={"T": ANY}, shape=shapes.elementwise,
    forwards=True,
)
def GuaranteeConst(xp: ModuleType, input: Array):
    if xp is np and input.dtype == object and input.ndim == 0 and isinstance(input.item(), weakref.ref):
        raise invalid("Input tensor cannot be a resource variable handle.")
    return input


@GuaranteeConst.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy


@GuaranteeConst.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))


@GuaranteeConst.reference
def _(input: np.ndarray):
    return input


@api("guarantee_const")
@tensor_function
def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """`input`; kept for programs that promise that it never changes."""
    return GuaranteeConst(input)


@op(
    "Snapshot", "input: T -> output: T", types={"T": ANY}, shape=shapes.elementwise,
    forwards=True,
)
def Snapshot(xp: ModuleType, input: Array):
    return input


@Snapshot.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy


@Snapshot.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))


@Snapshot.reference
def _(input: np.ndarray):
    return input


@op(
    "StopGradient", "input: T -> output: T", types={"T": ANY}, shape=shapes.elementwise, promotes="weakness",
    forwards=True,
    foldable=True,
)
def StopGradient(xp: ModuleType, input: Array):
    return input


StopGradient.gradient(None)


@StopGradient.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))


@StopGradient.reference
def _(input: np.ndarray):
    return input


@api("stop_gradient")
@tensor_function
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """`input`, through which no gradient flows."""
    return StopGradient(input)


@op(
    "PreventGradient",
    "input: T -> output: T",
    types={"T": ANY},
    attrs={"message": ""},
    shape=shapes.elementwise,
    forwards=True,
)
def PreventGradient(xp: ModuleType, input: Array, message: str):
    return input


@PreventGradient.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    raise LookupError(f"Gradient explicitly disabled. Reason: {call.message}")


@PreventGradient.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), message="no", differentiable=False)


@PreventGradient.reference
def _(input: np.ndarray, message: str):
    return input


@public
def prevent_gradient(input: TensorLike, message: str = "", name: str | None = None):
    """`input`; asking for a gradient through it raises LookupError with `message`.

    Args:
      input: a tensor.
      message: what the error says.
      name: a name for the operation (optional).
    """
    return PreventGradient(input, message)


def _ensured_rule(call: ShapeCall):
    expected = TensorShape(call.attr("shape"))
    known = None if expected.rank is None else tuple(expected.as_list())
    return [shapes.merge(call.shape(0), known)]


@op(
    "EnsureShape",
    "input: T -> output: T",
    types={"T": ANY},
    attrs={"shape": shape_attr},
    shape=_ensured_rule,
)
def EnsureShape(xp: ModuleType, input: Array, shape: Any):
    expected = TensorShape(shape)
    if not expected.is_compatible_with(input.shape):
        raise invalid(
            f"Shape of tensor input {shape_text(input.shape)} is not compatible with expected shape "
            f"{shape_text(expected.as_list())}."
        )
    return input


@EnsureShape.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return dy


@EnsureShape.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), shape=[None, 3])
    yield Sample(rng.normal(2, 3), shape=[2, 4], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), shape=[2], raises=InvalidArgumentError)


@EnsureShape.reference
def _(input: np.ndarray, shape: ShapeLike):
    return input


@api("ensure_shape")
@tensor_function
def ensure_shape(x: TensorLike, shape: TensorLike, name: str | None = None) -> Tensor:
    """Check that a tensor has a shape, when the program runs, and return the tensor.

    Args:
      x: a tensor of any dtype.
      shape: the shape that `x` must be compatible with: a `tf.TensorShape`, or a list of sizes in which None fits
        all.
      name: a name for the operation (optional).

    Returns:
      `x`; in a graph its static shape is the two merged.

    Raises:
      InvalidArgumentError: where the shapes are not compatible.

    >>> tf.ensure_shape([[1, 2, 3]], [None, 3])
    <tf.Tensor: shape=(1, 3), dtype=int32, numpy=array([[1, 2, 3]], dtype=int32)>
    """
    return EnsureShape(x, TensorShape(shape))
