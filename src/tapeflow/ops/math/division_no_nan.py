"""Products and quotients that are zero, not NaN, where one factor is zero."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math import arithmetic, casting, choice, comparison, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.elementwise_samples import per_element
from tapeflow.ops.table import FLOATING_OR_COMPLEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

BROADCAST: dict[str, Any] = {"types": {"T": FLOATING_OR_COMPLEX}, "shape": shapes.broadcast_all, "broadcast": True}
SCHEMA = "x: T, y: T -> z: T"


def _is_zero(x):
    return comparison.Equal(x, 0)


def _samples(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), np.abs(rng.normal(3)) + 0.5)
    yield Sample(np.asarray(1.5), np.abs(rng.normal(2, 1)) + 0.5)
    yield Sample(rng.normal(0), np.asarray(1.0))
    yield Sample(rng.normal(2), np.abs(rng.normal(3)) + 0.5, raises=InvalidArgumentError)


@op("DivNoNan", SCHEMA, **BROADCAST, promotes="operands")
def DivNoNan(xp: ModuleType, x: Array, y: Array):
    return xp.where(y == 0, xp.zeros_like(y), x / xp.where(y == 0, xp.ones_like(y), y))


@DivNoNan.gradient(needs="x, y")
def _(call: GradientCall, dz: Tensor):
    x, y = conj(call.x), conj(call.y)
    of_x = DivNoNan(dz, y)
    return of_x, arithmetic.Mul(of_x, DivNoNan(elementwise.Neg(x), y))


@DivNoNan.samples
def _(rng: SampleGenerator):
    yield from _samples(rng)
    yield Sample(np.array([1.0, 0.0, math.nan]), 0.0, expect=np.zeros(3), differentiable=False)


DivNoNan.reference(per_element(lambda x, y: x / y if y else 0.0, lambda x, y: x / y if y else 0.0))


@api("math.divide_no_nan", v1="div_no_nan")
@tensor_function
@graph_scope("div_no_nan")
def divide_no_nan(x: Any, y: Any, name: str | None = None):
    """Divide two tensors elementwise, with 0 where `y` is 0; with broadcasting.

    Args:
      x, y: tensors of one numeric dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of the broadcast shape: of integers of 8 and 16 bits float32, of wider ones float64, else of the
      dtype of the arguments.

    Raises:
      TypeError: for other dtypes, and for dtypes that differ.

    >>> tf.math.divide_no_nan([3.0, 3.0], [2.0, 0.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 0. ], dtype=float32)>
    """
    x = convert_to_tensor(x, y.dtype.base_dtype if is_tensor(y) and not is_tensor(x) else None)
    y = convert_to_tensor(y, dtype_hint=x.dtype)
    if x.dtype.base_dtype != y.dtype.base_dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    if x.dtype.is_integer:
        kind = dtypes.float32 if x.dtype.size <= 2 else dtypes.float64
        x, y = casting.cast(x, kind), casting.cast(y, kind)
    elif x.dtype.base_dtype not in FLOATING_OR_COMPLEX:
        raise TypeError(f"Invalid dtype {x.dtype!r} in tf.math.divide_no_nan.")
    return DivNoNan(x, y)


@api("math.reciprocal_no_nan")
@tensor_function
@graph_scope("reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, elementwise, but 0 where `x` is 0."""
    return DivNoNan(1, convert_to_tensor(x))


@op("MulNoNan", SCHEMA, **BROADCAST, promotes="operands")
def MulNoNan(xp: ModuleType, x: Array, y: Array):
    return xp.where(y == 0, xp.zeros_like(y), x * y)


@MulNoNan.gradient(needs="x, y")
def _(call: GradientCall, dz: Tensor):
    return MulNoNan(dz, conj(call.y)), MulNoNan(conj(call.x), dz)


@MulNoNan.samples
def _(rng: SampleGenerator):
    yield from _samples(rng)
    yield Sample(np.array([1.0, math.inf, math.nan]), 0.0, expect=np.zeros(3), differentiable=False)


MulNoNan.reference(per_element(lambda x, y: x * y if y else 0.0, lambda x, y: x * y if y else 0.0))


@api("math.multiply_no_nan")
@tensor_function
@graph_scope("multiply_no_nan")
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Multiply two tensors elementwise, with 0 where `y` is 0 even if `x` is infinite or NaN; with broadcasting.

    Args:
      x, y: tensors of one floating or complex dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.
    """
    return MulNoNan(x, y)


def _zero_first(
    name: str, combine: Callable[..., Any], slope_x: Callable[..., Any], slope_y: Callable[..., Any],
    reference: Callable[..., Any],
):
    """x * g(y), which is 0 where x is 0, whatever y is."""

    @op(name, SCHEMA, **BROADCAST)
    def row(xp: ModuleType, x: Array, y: Array):
        return xp.where(
            x == 0, xp.zeros_like(x), combine(xp, x, xp.where(x == 0, xp.ones_like(y), y))
        )

    @row.gradient(needs="x, y")
    def _(call: GradientCall, dz: Tensor):
        x, y = conj(call.x), conj(call.y)
        some = choice.SelectV2(_is_zero(x), arithmetic.Mul(x, 0), 1)
        return arithmetic.Mul(dz, slope_x(some, y)), arithmetic.Mul(dz, slope_y(x, y))

    @row.samples
    def _(rng: SampleGenerator):
        yield from _samples(rng)
        yield Sample(
            np.zeros(2), np.array([0.0, math.inf]), expect=np.zeros(2), differentiable=False
        )

    row.reference(per_element(reference, reference))
    return row


Xdivy = _zero_first(
    "Xdivy",
    lambda xp, x, y: x / y,
    lambda some, y: Xdivy(some, y),
    lambda x, y: elementwise.Neg(Xdivy(x, elementwise.Square(y))),
    lambda x, y: x / y if x else 0.0,
)
Xlogy = _zero_first(
    "Xlogy",
    lambda xp, x, y: x * xp.log(y),
    lambda some, y: Xlogy(some, y),
    lambda x, y: Xdivy(x, y),
    lambda x, y: x * _log(y) if x else 0.0,
)
Xlog1py = _zero_first(
    "Xlog1py",
    lambda xp, x, y: x * xp.log1p(y),
    lambda some, y: Xlog1py(some, y),
    lambda x, y: Xdivy(x, arithmetic.AddV2(y, 1)),
    lambda x, y: x * _log(y + 1) if x else 0.0,
)


def _log(v):
    return cmath.log(v) if isinstance(v, complex) else math.log(v)


@api("math.xdivy")
@tensor_function
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute `x / y` elementwise, with 0 where `x` is 0 even if `y` is; with broadcasting.

    Args:
      x, y: tensors of one floating or complex dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.
    """
    return Xdivy(x, y)


@api("math.xlogy")
@tensor_function
def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute `x * log(y)` elementwise, with 0 where `x` is 0 even if `y` is; with broadcasting.

    Args:
      x, y: tensors of one floating or complex dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 0.], dtype=float32)>
    """
    return Xlogy(x, y)


@api("math.xlog1py")
@tensor_function
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Compute `x * log(1 + y)` elementwise, with 0 where `x` is 0; with broadcasting.

    Args:
      x, y: tensors of one floating or complex dtype, whose shapes broadcast.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype and broadcast shape; exact also for small `y`.
    """
    return Xlog1py(x, y)
