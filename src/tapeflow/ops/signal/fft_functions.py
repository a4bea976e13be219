"""The Fourier transforms that programs call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array import layout, padding
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.reorder import roll
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, division
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signal.spectral import (
    BACKWARD,
    BACKWARD_REAL,
    FORWARD,
    FORWARD_REAL,
    REAL_PARTS,
    pairs,
)
from tapeflow.ops.static import rank_of, size_of, static_value
from tapeflow.ops.table import COMPLEX
from tapeflow.ops.validate import invalid


def _check_static_rank(x: Tensor, rank: int) -> None:
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")


def _vector(fft_length: Sequence[int]):
    """The lengths as an int32 vector. Raises ValueError for another rank."""
    lengths = convert_to_tensor(fft_length, dtypes.int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError(f"Shape {lengths.shape} must have rank 1")
    return lengths


def _rfft(input_tensor, fft_length: Sequence[int] | None, rank: int):
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.float32)
    if x.dtype not in REAL_PARTS:
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
    target = dtypes.complex64 if x.dtype == dtypes.float32 else dtypes.complex128
    _check_static_rank(x, rank)
    if fft_length is None:
        return FORWARD_REAL[rank](x, shape_of(x)[-rank:], target)
    lengths = _vector(fft_length)
    if lengths.shape.is_compatible_with([rank]):
        x = _extended(x, lengths, rank)
    return FORWARD_REAL[rank](x, lengths, target)


def _irfft(input_tensor, fft_length, rank: int):
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    if x.dtype not in COMPLEX:
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
    target: Any = x.dtype.real_dtype
    _check_static_rank(x, rank)
    if fft_length is None:
        inner = shape_of(x)[-rank:]
        last = arithmetic.Maximum(arithmetic.Mul(2, arithmetic.Sub(inner[-1:], 1)), 0)
        return BACKWARD_REAL[rank](x, concat([inner[:-1], last], 0), target)
    lengths = _vector(fft_length)
    if lengths.shape.is_compatible_with([rank]):
        half = arithmetic.Add(division.FloorDiv(lengths[-1:], 2), 1)
        x = _extended(x, concat([lengths[:-1], half], 0), rank)
    return BACKWARD_REAL[rank](x, lengths, target)


def _extended(x: Tensor, lengths: Tensor, rank: int):
    """`x`, zero-padded at the end of its last `rank` dimensions to at least `lengths`."""
    shape = shape_of(x)
    static, wanted = x.shape[-rank:], static_value(lengths)
    if static.is_fully_defined() and wanted is not None:
        if all(n >= m for n, m in zip(static.as_list(), wanted, strict=True)):
            return x
    missing = arithmetic.Maximum(arithmetic.Sub(lengths, shape[-rank:]), 0)
    return padding.Pad(x, pairs(concat([arithmetic.Mul(shape[:-rank], 0), missing], 0)))


@api("signal.fft", v1="fft")
@tensor_function
def fft(input: TensorLike, name: str | None = None):
    """The discrete Fourier transform along the last dimension of a complex tensor."""
    return FORWARD[1](input)


@api("signal.ifft", v1="ifft")
@tensor_function
def ifft(input: TensorLike, name: str | None = None):
    """The inverse of `fft`."""
    return BACKWARD[1](input)


@api("signal.fft2d", v1="fft2d")
@tensor_function
def fft2d(input: TensorLike, name: str | None = None):
    """The discrete Fourier transform over the last two dimensions of a complex tensor."""
    return FORWARD[2](input)


@api("signal.ifft2d", v1="ifft2d")
@tensor_function
def ifft2d(input: TensorLike, name: str | None = None):
    """The inverse of `fft2d`."""
    return BACKWARD[2](input)


@api("signal.fft3d", v1="fft3d")
@tensor_function
def fft3d(input: TensorLike, name: str | None = None):
    """The discrete Fourier transform over the last three dimensions of a complex tensor."""
    return FORWARD[3](input)


@api("signal.ifft3d", v1="ifft3d")
@tensor_function
def ifft3d(input: TensorLike, name: str | None = None):
    """The inverse of `fft3d`."""
    return BACKWARD[3](input)


@api("signal.rfft")
@tensor_function
def rfft(input_tensor: TensorLike, fft_length: Sequence[int] | None = None, name: str | None = None):
    """Compute the discrete Fourier transform of real signals, of which the first half is kept.

    Args:
      input_tensor: signals `[..., n]` of float32 or float64.
      fft_length: the length to which they are cut or filled up with zeros, a vector of one integer (optional).
      name: a name for the operation (optional).

    Returns:
      A complex tensor `[..., fft_length // 2 + 1]`; the other terms are the conjugates of these.

    Raises:
      ValueError: for other dtypes.

    >>> tf.signal.rfft([1.0, 0.0, 0.0, 0.0]).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _rfft(input_tensor, fft_length, 1)


@api("signal.rfft2d")
@tensor_function
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None):
    """Compute the discrete Fourier transform of real signals over the last two dimensions.

    Args:
      input_tensor: signals `[..., m, n]` of float32 or float64.
      fft_length: the sizes to which they are cut or filled up with zeros, a vector of two integers (optional).
      name: a name for the operation (optional).

    Returns:
      A complex tensor `[..., m, n // 2 + 1]`.

    Raises:
      ValueError: for other dtypes.
    """
    return _rfft(input_tensor, fft_length, 2)


@api("signal.rfft3d")
@tensor_function
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None):
    """Compute the discrete Fourier transform of real signals over the last three dimensions.

    Args:
      input_tensor: signals `[..., l, m, n]` of float32 or float64.
      fft_length: the sizes to which they are cut or filled up with zeros, a vector of three integers (optional).
      name: a name for the operation (optional).

    Returns:
      A complex tensor `[..., l, m, n // 2 + 1]`.

    Raises:
      ValueError: for other dtypes.
    """
    return _rfft(input_tensor, fft_length, 3)


@api("signal.irfft")
@tensor_function
def irfft(input_tensor: TensorLike, fft_length: Sequence[int] | None = None, name: str | None = None):
    """Invert `tf.signal.rfft`.

    Args:
      input_tensor: transforms `[..., n // 2 + 1]`, complex64 or complex128.
      fft_length: the length of the signals, a vector of one integer; None: `2 * (terms - 1)`, which is even.
      name: a name for the operation (optional).

    Returns:
      Real signals `[..., fft_length]`.

    Raises:
      ValueError: where the input is not complex.

    >>> tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 3.0, 4.0])).numpy().round(4)
    array([1., 2., 3., 4.], dtype=float32)
    """
    return _irfft(input_tensor, fft_length, 1)


@api("signal.irfft2d")
@tensor_function
def irfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None):
    """Invert `tf.signal.rfft2d`.

    Args:
      input_tensor: transforms `[..., m, n // 2 + 1]`, complex64 or complex128.
      fft_length: the sizes of the signals, a vector of two integers; None: those of the input, `2 * (terms - 1)`
        the last.
      name: a name for the operation (optional).

    Returns:
      Real signals `[..., m, n]`.

    Raises:
      ValueError: where the input is not complex.
    """
    return _irfft(input_tensor, fft_length, 2)


@api("signal.irfft3d")
@tensor_function
def irfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None):
    """Invert `tf.signal.rfft3d`.

    Args:
      input_tensor: transforms `[..., l, m, n // 2 + 1]`, complex64 or complex128.
      fft_length: the sizes of the signals, a vector of three integers; None: those of the input, `2 * (terms - 1)`
        the last.
      name: a name for the operation (optional).

    Returns:
      Real signals `[..., l, m, n]`.

    Raises:
      ValueError: where the input is not complex.
    """
    return _irfft(input_tensor, fft_length, 3)


def _shifted(x, axes, sign: int):
    x = convert_to_tensor(x)
    rank, known = x.shape.rank, None if axes is None else static_value(axes)
    if (axes is None and rank is None) or (axes is not None and known is None):
        every = shape_of(x)
        chosen = range_(rank_of(x)) if axes is None else layout.reshape(cast(axes, dtypes.int32), [-1])
        halves = gather(every, chosen % rank_of(x)) // 2
        return roll(x, halves if sign > 0 else -halves, chosen)
    chosen = list(range(rank)) if known is None else [int(axis) for axis in np.ravel(known)]
    for axis in chosen if rank is not None else ():
        if not -rank <= axis < rank:
            raise invalid(f"axis {axis} is out of range for an input of rank {rank}")
    return roll(x, [sign * (size_of(x, axis) // 2) for axis in chosen], chosen)


@api("signal.fftshift")
@tensor_function
@graph_scope("fftshift")
def fftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None):
    """Move the term of frequency zero to the middle of axes.

    Args:
      x: a tensor of any dtype.
      axes: the axis, or a list of axes; None: all.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    >>> tf.signal.fftshift([0, 1, 2, -2, -1])
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([-2, -1,  0,  1,  2], dtype=int32)>
    """
    return _shifted(x, axes, 1)


@api("signal.ifftshift")
@tensor_function
@graph_scope("ifftshift")
def ifftshift(x: TensorLike, axes: AxisLike | None = None, name: str | None = None):
    """Move the term of frequency zero from the middle of axes to their start.

    Args:
      x: a tensor of any dtype.
      axes: the axis, or a list of axes; None: all.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    >>> tf.signal.ifftshift([-2, -1, 0, 1, 2])
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([ 0,  1,  2, -2, -1], dtype=int32)>
    """
    return _shifted(x, axes, -1)
