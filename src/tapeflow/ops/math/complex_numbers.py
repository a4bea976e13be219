"""Complex numbers: their parts, magnitudes and angles."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.math import arithmetic, choice, comparison, division, division_no_nan
from tapeflow.ops.math.conjugate import Conj
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import COMPLEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

PARTS = (dtypes.float32, dtypes.float64)
TO_REAL: dict[str, Any] = {"types": {"T": Preferring(COMPLEX)}, "attrs": {"Tout": dtype(dtypes.float32)}}


def _complex(rng: SampleGenerator, *shape):
    return rng.normal(*shape) + 1j * rng.normal(*shape)


def _to_real_samples(rng: SampleGenerator):
    yield Sample(_complex(rng, 3, 2), Tout=dtypes.float64)
    yield Sample(_complex(rng, 2).astype(np.complex64))
    yield Sample(_complex(rng, 0), Tout=dtypes.float64)


def _real_dtype(x: Tensor):
    return x.dtype.real_dtype


@op("Real", "input: T -> output: Tout", shape=shapes.elementwise, **TO_REAL)
def Real(xp: ModuleType, input: Array, Tout: DType):
    return xp.real(input).astype(Tout.as_numpy_dtype)


@Real.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Complex(dy, arithmetic.Mul(dy, 0.0), call.dtype("input"))


Real.samples(_to_real_samples)
Real.reference(lambda input, Tout: ((input + input.conj()) / 2).real)


@api("math.real", v1="real")
@tensor_function
def real(input: TensorLike, name: str | None = None):
    """The real part of each element; real tensors as they are."""
    x = convert_to_tensor(input)
    if x.dtype.is_complex:
        return Real(x, _real_dtype(x))
    if not (x.dtype.is_floating or x.dtype.is_integer or x.dtype.is_bool):
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype!r}")
    return x


@op("Imag", "input: T -> output: Tout", shape=shapes.elementwise, **TO_REAL)
def Imag(xp: ModuleType, input: Array, Tout: DType):
    return xp.imag(input).astype(Tout.as_numpy_dtype)


@Imag.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Complex(arithmetic.Mul(dy, 0.0), dy, call.dtype("input"))


Imag.samples(_to_real_samples)
Imag.reference(lambda input, Tout: (input * -1j).real)


@api("math.imag", v1="imag")
@tensor_function
def imag(input: TensorLike, name: str | None = None):
    """The imaginary part of each element; zeros for real tensors."""
    x = convert_to_tensor(input)
    if x.dtype.is_complex:
        return Imag(x, _real_dtype(x))
    return ZerosLike(x)


@op("Angle", "input: T -> output: Tout", shape=shapes.elementwise, **TO_REAL)
def Angle(xp: ModuleType, input: Array, Tout: DType):
    return xp.angle(input).astype(Tout.as_numpy_dtype)


@Angle.gradient(needs="input")
def _(call: GradientCall, dy: Tensor):
    x = call.input
    of_real = Complex(dy, arithmetic.Mul(dy, 0.0), x.dtype)
    # d angle = Im(conj(x) dx) / |x|^2, that is i x / |x|^2 as the cotangent.
    return arithmetic.Mul(of_real, division.RealDiv(1j, Conj(x)))


Angle.samples(_to_real_samples)
Angle.reference(lambda input, Tout: np.arctan2(input.imag, input.real))


@api("math.angle", v1="angle")
@tensor_function
def angle(input: TensorLike, name: str | None = None):
    """The angle of each element in radians, in (-pi, pi]; 0 or pi for real ones."""
    x = convert_to_tensor(input)
    if x.dtype.is_complex:
        return Angle(x, _real_dtype(x))
    return choice.SelectV2(comparison.Less(x, 0), math.pi, convert_to_tensor(0, dtype=x.dtype))


@op(
    "ComplexAbs",
    "x: T -> y: Tout",
    shape=shapes.elementwise,
    **TO_REAL,
)
def ComplexAbs(xp: ModuleType, x: Array, Tout: DType):
    return xp.abs(x).astype(Tout.as_numpy_dtype)


@ComplexAbs.gradient(needs="x, y")
def _(call: GradientCall, dy: Tensor):
    x, scale = call.x, division_no_nan.DivNoNan(dy, call.y)
    return arithmetic.Mul(Complex(scale, arithmetic.Mul(scale, 0.0), x.dtype), x)


ComplexAbs.samples(_to_real_samples)
ComplexAbs.reference(lambda x, Tout: np.sqrt(x.real**2 + x.imag**2))


@op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    types={"T": Preferring(PARTS)},
    attrs={"Tout": dtype(dtypes.complex64)},
    shape=shapes.broadcast_all,
    broadcast=True,
)
def Complex(xp: ModuleType, real: Array, imag: Array, Tout: DType):
    # Not `real + 1j * imag`, whose real part is NaN where `imag` is infinite.
    out = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), Tout.as_numpy_dtype)
    out.real, out.imag = real, imag
    return out


@Complex.compiled()
def _(xp: ModuleType, real: Array, imag: Array, Tout: DType):
    return xp.add(real, xp.multiply(imag, 1j)).astype(Tout.as_numpy_dtype)


@Complex.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    kind = call.dtype("real")
    return Real(dy, kind), Imag(dy, kind)


@Complex.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), rng.normal(3), Tout=dtypes.complex128)
    yield Sample(rng.normal(2).astype(np.float32), rng.normal(2).astype(np.float32))
    yield Sample(rng.normal(2), rng.normal(3), Tout=dtypes.complex128, raises=InvalidArgumentError)


@Complex.reference
def _(real: np.ndarray, imag: np.ndarray, Tout: DType):
    out = np.zeros(np.broadcast_shapes(real.shape, imag.shape), np.complex128)
    out.real, out.imag = real, imag
    return out


@api("dtypes.complex", "complex")
@tensor_function
def complex(real: TensorLike, imag: TensorLike, name: str | None = None):
    """Make a complex tensor of its real and its imaginary part.

    Args:
      real: a float32 or float64 tensor.
      imag: a tensor of the dtype of `real`, whose shape broadcasts with that of `real`.
      name: a name for the operation (optional).

    Returns:
      A complex64 tensor of float32 parts, a complex128 tensor of float64 ones.

    Raises:
      TypeError: for other dtypes, and for dtypes that differ.

    >>> tf.complex([1.0, 2.0], [0.5, -0.5])
    <tf.Tensor: shape=(2,), dtype=complex64, numpy=array([1.+0.5j, 2.-0.5j], dtype=complex64)>
    """
    real = convert_to_tensor(real)
    imag = convert_to_tensor(imag)
    pair = real.dtype, imag.dtype
    if pair == (dtypes.float64, dtypes.float64):
        return Complex(real, imag, dtypes.complex128)
    if pair == (dtypes.float32, dtypes.float32):
        return Complex(real, imag, dtypes.complex64)
    raise TypeError(
        "The `real` and `imag` components have incorrect types: "
        f"{real.dtype.name} {imag.dtype.name}. They must be consistent, and one of "
        "[tf.float32, tf.float64]"
    )
