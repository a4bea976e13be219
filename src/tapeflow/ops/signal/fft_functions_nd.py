"""The Fourier transforms over any axes that programs call."""

from __future__ import annotations

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, choice
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.signal.spectral import REAL_PARTS
from tapeflow.ops.signal.spectral_nd import FFTND, IFFTND, IRFFTND, RFFTND
from tapeflow.ops.static import rank_of, static_value
from tapeflow.ops.table import COMPLEX


@api("fftnd")
@tensor_function
def raw_fftnd(
    input: TensorLike, fft_length: TensorLike, axes: TensorLike, name: str | None = None
) -> Tensor:
    """Compute the discrete Fourier transform over axes; prefer `tf.signal.fftnd`.

    Args:
      input: a complex tensor.
      fft_length: the size for each axis, an int32 vector.
      axes: the axes, an int32 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`.
    """
    return FFTND(input, fft_length, axes)


@api("ifftnd")
@tensor_function
def raw_ifftnd(
    input: TensorLike, fft_length: TensorLike, axes: TensorLike, name: str | None = None
) -> Tensor:
    """Invert the discrete Fourier transform over axes; prefer `tf.signal.ifftnd`.

    Args:
      input: a complex tensor.
      fft_length: the size for each axis, an int32 vector.
      axes: the axes, an int32 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`.
    """
    return IFFTND(input, fft_length, axes)


@api("rfftnd")
@tensor_function
def raw_rfftnd(
    input: TensorLike,
    fft_length: TensorLike,
    axes: TensorLike,
    Tcomplex=dtypes.complex64,
    name: str | None = None,
) -> Tensor:
    """Compute the discrete Fourier transform of a real signal over axes; prefer `tf.signal.rfftnd`.

    Args:
      input: a float32 or float64 tensor.
      fft_length: the size for each axis, an int32 vector.
      axes: the axes, an int32 vector.
      Tcomplex: complex64 of float32, complex128 of float64.
      name: a name for the operation (optional).

    Returns:
      A tensor of dtype `Tcomplex`.
    """
    return RFFTND(input, fft_length, axes, Tcomplex)


@api("irfftnd")
@tensor_function
def raw_irfftnd(
    input: TensorLike,
    fft_length: TensorLike,
    axes: TensorLike,
    Treal=dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Invert the discrete Fourier transform of a real signal over axes; prefer `tf.signal.irfftnd`.

    Args:
      input: a complex tensor.
      fft_length: the size for each axis, an int32 vector.
      axes: the axes, an int32 vector.
      Treal: float32 of complex64, float64 of complex128.
      name: a name for the operation (optional).

    Returns:
      A tensor of dtype `Treal`.
    """
    return IRFFTND(input, fft_length, axes, Treal)


def _arguments(x: Tensor, fft_length, axes, inverse_real: bool = False):
    """`fft_length` and `axes`: by default the sizes of `axes`, all of which are the default."""
    if axes is None:
        known = None if fft_length is None else static_value(fft_length)
        if known is not None:
            axes = np.arange(-known.size, 0, dtype=np.int32)
        else:
            axes = range_(rank_of(x))
    axes = convert_to_tensor(axes, dtype=dtypes.int32)
    if x.shape.rank is not None and axes.shape.rank == 1:
        (count,) = axes.shape.as_list()
        if count is not None and x.shape.rank < count:
            raise ValueError(f"Shape {x.shape} must have rank at least {count}")
    if fft_length is None:
        fft_length = gather(shape_of(x), choice.SelectV2(axes < 0, axes + rank_of(x), axes))
        if inverse_real:
            last = arithmetic.maximum((fft_length[-1:] - 1) * 2, 0)
            fft_length = concat([fft_length[:-1], last], 0)
    return convert_to_tensor(fft_length, dtype=dtypes.int32), axes


def _scale(x: Tensor, norm: str | None, lengths: Tensor, inverse: bool):
    if norm in (None, "backward"):
        return x
    if norm not in ("forward", "ortho"):
        raise ValueError(f'norm must be None, "backward", "forward" or "ortho", got {norm!r}')
    size = cast(reduce_prod(lengths), x.dtype.real_dtype)
    if norm == "ortho":
        size = size**0.5
    return x * cast(size, x.dtype) if inverse else x / cast(size, x.dtype)


@api("signal.fftnd")
@tensor_function
def fftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
):
    """Compute the discrete Fourier transform over axes.

    Args:
      input_tensor: a complex tensor.
      fft_length: the size to which each axis is cut or filled up with zeros (optional).
      axes: a list of axes; None: all, or as many of the last as `fft_length` has sizes.
      norm: "backward" or None: no scale; "forward": divided by the number of terms; "ortho": by its root.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input.

    Raises:
      InvalidArgumentError: for axes out of range, and for as many sizes as do not fit.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    lengths, axes = _arguments(x, fft_length, axes)
    return FFTND(_scale(x, norm, lengths, False), lengths, axes)


@api("signal.ifftnd")
@tensor_function
def ifftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
):
    """Invert `tf.signal.fftnd`.

    Args:
      input_tensor: a complex tensor.
      fft_length: the size to which each axis is cut or filled up with zeros (optional).
      axes: a list of axes; None: all, or as many of the last as `fft_length` has sizes.
      norm: that of the transform to invert.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of the input.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    lengths, axes = _arguments(x, fft_length, axes)
    return IFFTND(_scale(x, norm, lengths, True), lengths, axes)


@api("signal.rfftnd")
@tensor_function
def rfftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
):
    """Compute the discrete Fourier transform of a real signal over axes; of the last of them, the first half is kept.

    Args:
      input_tensor: a float32 or float64 tensor.
      fft_length: the size to which each axis is cut or filled up with zeros (optional).
      axes: a list of axes; None: all, or as many of the last as `fft_length` has sizes.
      norm: "backward" or None: no scale; "forward": divided by the number of terms; "ortho": by its root.
      name: a name for the operation (optional).

    Returns:
      A complex tensor.

    Raises:
      ValueError: for other dtypes.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.float32)
    if x.dtype not in REAL_PARTS:
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
    lengths, axes = _arguments(x, fft_length, axes)
    target = dtypes.complex64 if x.dtype == dtypes.float32 else dtypes.complex128
    return RFFTND(_scale(x, norm, lengths, False), lengths, axes, target)


@api("signal.irfftnd")
@tensor_function
def irfftnd(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, axes: AxisLike | None = None,
    norm: str | None = None, name: str | None = None,
):
    """Invert `tf.signal.rfftnd`.

    Args:
      input_tensor: a complex tensor.
      fft_length: the sizes of the signal along the axes; None: those of the input, the last of them even.
      axes: a list of axes; None: all, or as many of the last as `fft_length` has sizes.
      norm: that of the transform to invert.
      name: a name for the operation (optional).

    Returns:
      A real tensor.

    Raises:
      ValueError: where the input is not complex.
    """
    x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
    if x.dtype not in COMPLEX:
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
    lengths, axes = _arguments(x, fft_length, axes, inverse_real=True)
    return IRFFTND(_scale(x, norm, lengths, True), lengths, axes, x.dtype.real_dtype)
