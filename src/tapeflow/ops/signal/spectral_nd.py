"""Discrete Fourier transforms over any axes, of complex and of real signals."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array import padding, slicing
from tapeflow.ops.array.construction import range as range_
from tapeflow.ops.array.gather import gather
from tapeflow.ops.array.joining import concat, stack
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import shape as shape_of
from tapeflow.ops.array.scatter import tensor_scatter_nd_update
from tapeflow.ops.math import arithmetic, comparison, complex_numbers
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reduction import reduce_prod
from tapeflow.ops.signal.spectral import REAL_PARTS
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.static import rank_of, static_value
from tapeflow.ops.table import COMPLEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


def _checked(input: Any, fft_length: Any, axes: Any) -> tuple[list[int], list[int]]:
    """Lengths, and the axes that they are of, counted from the front."""
    if axes.ndim != 1 or fft_length.shape != axes.shape:
        raise invalid(
            "fft_length and axes must be vectors of the same length, got shapes "
            f"{shape_text(fft_length.shape)} and {shape_text(axes.shape)}"
        )
    if input.ndim < axes.size:
        raise invalid(f"Input must have rank of at least {axes.size} but got: {shape_text(input.shape)}")
    lengths, places = [int(n) for n in fft_length], [int(a) for a in axes]
    for i, n in enumerate(lengths):
        if n < 0:
            raise invalid(f"fft_length[{i}] must >= 0, but got: {n}")
    for i, a in enumerate(places):
        if not -input.ndim <= a < input.ndim:
            raise invalid(f"axes[{i}] = {a} is out of range for an input of rank {input.ndim}")
    places = [a % input.ndim for a in places]
    if len(set(places)) < len(places):
        raise invalid(f"axes must be different, got {shape_text(axes)}")
    return lengths, places


def _half(n: int) -> int:
    return n // 2 + 1 if n else 0


def _out_shape(shape: Sequence[Any], lengths: Sequence[int], places: Sequence[int], halved: bool = False) -> list:
    out = list(shape)
    for n, a in zip(lengths, places, strict=True):
        out[a] = n
    if halved and places:
        out[places[-1]] = None if lengths[-1] is None else _half(lengths[-1])
    return out


def _rule(halved: bool):
    def rule(call):
        shape = call.shape(0)
        count = shapes.same_dimension(shapes.vector_length(call, 1), shapes.vector_length(call, 2))
        if shape is None:
            return [None]
        shapes.at_least(shape, count or 0)
        places, lengths = shapes.vector_value(call, 2), shapes.vector_value(call, 1)
        if places is None:
            return [(None,) * len(shape)]
        places = [shapes.normal_axis(a, len(shape)) for a in places]
        return [tuple(_out_shape(shape, lengths or [None] * len(places), places, halved))]

    return rule


def _sums(x, lengths, places, sign: int, rows=None):
    """The transform by its definition: a matrix product along each axis."""
    y = np.asarray(x, np.complex128)
    for n, a in zip(lengths, places, strict=True):
        y = np.moveaxis(y, a, -1)[..., :n]
        j, k = np.arange(y.shape[-1]), np.arange(n)
        y = np.moveaxis(y @ np.exp(sign * 2j * np.pi * np.outer(j, k) / max(n, 1)), -1, a)
    return y


def _fit(x, shape: ShapeLike):
    """Crops and zero-pads all dimensions of `x` to `shape`, an int32 vector."""
    own = shape_of(x)
    x = slicing.Slice(x, own * 0, arithmetic.Minimum(own, shape))
    missing = arithmetic.Maximum(shape - own, 0)
    return padding.Pad(x, stack([missing * 0, missing], 1))


def _size(lengths, like):
    return cast(reduce_prod(lengths), like.dtype)


def _bad(x):
    yield Sample(x, np.int32([3]), np.int32([7]), raises=InvalidArgumentError)
    yield Sample(x, np.int32([3, 4]), np.int32([1]), raises=InvalidArgumentError)
    yield Sample(x, np.int32([3, 3]), np.int32([1, 1]), raises=InvalidArgumentError)
    yield Sample(x, np.int32([-3]), np.int32([1]), raises=InvalidArgumentError)
    yield Sample(x, np.int32([[3]]), np.int32([[1]]), raises=InvalidArgumentError)
    yield Sample(x, np.int32([3] * 4), np.int32([0, 1, 2, 3]), raises=InvalidArgumentError)


_CASES = (([3, 4], [1, 2]), ([2, 5], [0, 2]), ([2, 2], [-1, 0]), ([3], [1]), ([2, 3, 4], [0, 1, 2]))


def _complex_row(name: str, inverse: bool):
    @op(
        name,
        "input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex",
        types={"Tcomplex": Preferring(COMPLEX)},
        ranks="input: 1+",
        shape=_rule(False),
    )
    def row(xp: ModuleType, input: Array, fft_length: Array, axes: Array):
        lengths, places = _checked(input, fft_length, axes)
        shape = _out_shape(input.shape, lengths, places)
        if 0 in shape or 0 in input.shape or not places:
            return xp.zeros(shape, input.dtype) if places else input
        transform = xp.fft.ifftn if inverse else xp.fft.fftn
        return transform(input, lengths, axes=places).astype(input.dtype)

    row.compiled(static="fft_length, axes")

    @row.gradient(needs="fft_length, axes")
    def _(call: GradientCall, dy: Tensor):
        lengths = call.fft_length
        if inverse:
            dx = FFTND(dy, lengths, call.axes) / _size(lengths, dy)
        else:
            dx = IFFTND(dy, lengths, call.axes) * _size(lengths, dy)
        return _fit(dx, call.shape("input")), None, None

    @row.samples
    def _(rng):
        x = rng.normal(2, 3, 4) + 1j * rng.normal(2, 3, 4)
        for lengths, axes in _CASES:
            yield Sample(x, np.int32(lengths), np.int32(axes))
        yield Sample(x.astype(np.complex64), np.int32([2]), np.int32([2]))
        yield Sample(x, np.int32([0]), np.int32([2]))
        yield Sample(x, np.int32([]), np.int32([]))
        yield from _bad(x)

    @row.reference
    def _(input: np.ndarray, fft_length: np.ndarray, axes: np.ndarray):
        lengths, places = list(fft_length), [a % input.ndim for a in axes]
        if 0 in lengths:
            return np.zeros(_out_shape(input.shape, lengths, places))
        return _sums(input, lengths, places, 1 if inverse else -1) / (np.prod(lengths) if inverse else 1)

    return row


FFTND = _complex_row("FFTND", False)
IFFTND = _complex_row("IFFTND", True)


@op(
    "RFFTND",
    "input: Treal, fft_length: int32, axes: int32 -> output: Tcomplex",
    types={"Treal": Preferring(REAL_PARTS)},
    attrs={"Tcomplex": dtype(dtypes.complex64)},
    ranks="input: 1+",
    shape=_rule(True),
)
def RFFTND(xp: ModuleType, input: Array, fft_length: Array, axes: Array, Tcomplex: DType):
    """The last of `axes` keeps the first half of its terms."""
    lengths, places = _checked(input, fft_length, axes)
    kind = Tcomplex.as_numpy_dtype
    shape = _out_shape(input.shape, lengths, places, True)
    if 0 in shape or 0 in input.shape or not places:
        return xp.zeros(shape, kind) if places else input.astype(kind)
    return xp.fft.rfftn(input, lengths, axes=places).astype(kind)


RFFTND.compiled(static="fft_length, axes")


def _last_size(shape: Sequence[Any], axes, size):
    """`shape` with the dimension that is the last of `axes` set to `size`."""
    place = axes[-1:]
    place = comparison.SelectV2(place < 0, place + _rank_of(shape), place)
    return tensor_scatter_nd_update(shape, reshape(place, [1, 1]), reshape(size, [1]))


def _rank_of(shape: Sequence[Any]):
    return shape_of(shape)[0]


@RFFTND.gradient(needs="fft_length, axes")
def _(call: GradientCall, dy: Tensor):
    lengths = call.fft_length
    full = _fit(dy, _last_size(shape_of(dy), call.axes, lengths[-1]))
    dx = complex_numbers.real(IFFTND(full, lengths, call.axes) * _size(lengths, full))
    return _fit(cast(dx, call.dtype("input")), call.shape("input")), None, None


@RFFTND.samples
def _(rng):
    x = rng.normal(2, 3, 4)
    for lengths, axes in _CASES:
        yield Sample(x, np.int32(lengths), np.int32(axes), Tcomplex=dtypes.complex128)
    yield Sample(x.astype(np.float32), np.int32([5]), np.int32([2]))
    yield from _bad(x)


@RFFTND.reference
def _(input: np.ndarray, fft_length: np.ndarray, axes: np.ndarray, Tcomplex: DType):
    lengths, places = list(fft_length), [a % input.ndim for a in axes]
    full = _sums(input, lengths, places, -1)
    return np.moveaxis(np.moveaxis(full, places[-1], -1)[..., : _half(lengths[-1])], -1, places[-1])


@op(
    "IRFFTND",
    "input: Tcomplex, fft_length: int32, axes: int32 -> output: Treal",
    types={"Tcomplex": Preferring(COMPLEX)},
    attrs={"Treal": dtype(dtypes.float32)},
    ranks="input: 1+",
    shape=_rule(False),
)
def IRFFTND(xp: ModuleType, input: Array, fft_length: Array, axes: Array, Treal: DType):
    lengths, places = _checked(input, fft_length, axes)
    kind = Treal.as_numpy_dtype
    shape = _out_shape(input.shape, lengths, places)
    if 0 in shape or 0 in input.shape or not places:
        return xp.zeros(shape, kind) if places else input.real.astype(kind)
    return xp.fft.irfftn(input, lengths, axes=places).astype(kind)


IRFFTND.compiled(static="fft_length, axes")


@IRFFTND.gradient(needs="fft_length, axes")
def _(call: GradientCall, dy: Tensor):
    lengths, axes = call.fft_length, call.axes
    target = call.dtype("input")
    spectrum = cast(RFFTND(dy, lengths, axes, target), target)
    # All terms but the first, and the last of an even length, stand for their conjugate too.
    k, n = range_(lengths[-1] // 2 + 1), lengths[-1]
    alone = comparison.logical_or(comparison.equal(k, 0), comparison.equal(k * 2, n))
    weights = cast(comparison.SelectV2(alone, 1.0, 2.0), target)
    ones = _last_size(shape_of(spectrum) * 0 + 1, axes, shape_of(k)[0])
    dx = spectrum * reshape(weights, ones) / _size(lengths, spectrum)
    return _fit(dx, call.shape("input")), None, None


@IRFFTND.samples
def _(rng):
    x = rng.normal(2, 3, 4)
    for lengths, axes in _CASES:
        spectrum = np.fft.rfftn(x, lengths, axes=axes)
        yield Sample(spectrum, np.int32(lengths), np.int32(axes), Treal=dtypes.float64)
    yield Sample(np.fft.rfft(x).astype(np.complex64), np.int32([5]), np.int32([2]))
    yield from _bad(x + 0j)


@IRFFTND.reference
def _(input: np.ndarray, fft_length: np.ndarray, axes: np.ndarray, Treal: DType):
    lengths, places = list(fft_length), [a % input.ndim for a in axes]
    y = _sums(input, lengths[:-1], places[:-1], 1) / max(np.prod(lengths[:-1]), 1)
    n = lengths[-1]
    y = np.moveaxis(y, places[-1], -1)[..., : _half(n)]
    k, j = np.arange(y.shape[-1]), np.arange(n)
    twice = np.where((k == 0) | (2 * k == n), 1, 2)
    y = ((y * twice) @ np.exp(2j * np.pi * np.outer(k, j) / n)).real / n
    return np.moveaxis(y, -1, places[-1])


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
    if x.shape.rank is not None and axes.shape.rank == 1 and axes.shape[0] is not None:
        if x.shape.rank < axes.shape[0]:
            raise ValueError(f"Shape {x.shape} must have rank at least {axes.shape[0]}")
    if fft_length is None:
        fft_length = gather(shape_of(x), comparison.SelectV2(axes < 0, axes + rank_of(x), axes))
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
