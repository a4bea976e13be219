"""Discrete Fourier transforms over any axes, of complex and of real signals."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, ShapeLike
from tapeflow.core.dtypes import DType
from tapeflow.ops import shapes
from tapeflow.ops.array import padding
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing import slicing
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.math import arithmetic, choice, comparison, complex_numbers, logic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.signal.spectral import REAL_PARTS
from tapeflow.ops.signature import Preferring, dtype
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
    place = choice.SelectV2(place < 0, place + _rank_of(shape), place)
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
    alone = logic.logical_or(comparison.equal(k, 0), comparison.equal(k * 2, n))
    weights = cast(choice.SelectV2(alone, 1.0, 2.0), target)
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
