"""Discrete Fourier transforms of one to three inner dimensions, of complex and of real signals."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import padding
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing import slicing
from tapeflow.ops.math import arithmetic, choice, comparison, complex_numbers, division, logic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reduction import Prod
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.static import static_value
from tapeflow.ops.table import COMPLEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

REAL_PARTS = (dtypes.float32, dtypes.float64)


def _check_rank(array: Any, rank: int) -> None:
    if array.ndim < rank:
        raise invalid(f"Input must have rank of at least {rank} but got: {shape_text(array.shape)}")


def _lengths(fft_length: Any, rank: int) -> list[int]:
    """The transform's lengths as integers. Raises InvalidArgumentError for another count or sign."""
    if np.shape(fft_length) != (rank,):
        raise invalid(f"fft_length must have shape [{rank}]")
    lengths = [int(n) for n in fft_length]
    for i, n in enumerate(lengths):
        if n < 0:
            raise invalid(f"fft_length[{i}] must >= 0, but got: {n}")
    return lengths


def _cropped(array: Any, lengths):
    """The leading part of the inner dimensions. Raises InvalidArgumentError where there is too little."""
    inner = array.shape[array.ndim - len(lengths) :]
    for i, (n, wanted) in enumerate(zip(inner, lengths, strict=True)):
        if array.size and n < wanted:
            raise invalid(f"Input dimension {i} must have length of at least {wanted} but got: {n}")
    return array[(..., *(slice(n) for n in lengths))]


def _half(n: int) -> int:
    """How many terms of the transform of `n` real numbers determine the others."""
    return n // 2 + 1 if n else 0


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _sums(array, rank: int, sign: int):
    """The transform by its definition, a matrix product along each of the last `rank` axes."""
    y = np.asarray(array, np.complex128)
    for axis in _axes(rank):
        k = np.arange(y.shape[axis])
        matrix = np.exp(sign * 2j * np.pi * np.outer(k, k) / max(len(k), 1))
        y = np.moveaxis(np.moveaxis(y, axis, -1) @ matrix, -1, axis)
    return y


def _signal(rng: SampleGenerator, *shape):
    return rng.normal(*shape) + 1j * rng.normal(*shape)


def _size(lengths: Tensor, like: Tensor):
    """The product of the integers `lengths` in the dtype of `like`."""
    return cast(Prod(lengths, [0], False), like.dtype)


def _fit(x, lengths, rank: int):
    """Crops and zero-pads the last `rank` dimensions of `x` to `lengths`, an int32 vector."""
    shape = shape_of(x)
    outer = shape[:-rank]
    x = slicing.Slice(
        x,
        arithmetic.Mul(shape, 0),
        concat([outer, arithmetic.Minimum(shape[-rank:], lengths)], 0),
    )
    missing = arithmetic.Maximum(arithmetic.Sub(lengths, shape[-rank:]), 0)
    after = concat([arithmetic.Mul(outer, 0), missing], 0)
    return padding.Pad(x, pairs(after))


def pairs(after: Tensor):
    return stack([arithmetic.Mul(after, 0), after], 1)


def _real_rule(rank: int, inverse: bool):
    def rule(call):
        shape = shapes.at_least(call.shape(0), rank)
        shapes.exactly(shapes.vector_length(call, 1), rank)
        lengths = shapes.vector_value(call, 1) or [None] * rank
        if shape is None:
            return [None]
        if not inverse and lengths[-1] is not None:
            lengths = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
        return [(*shape[: len(shape) - rank], *lengths)]

    return rule


def _complex_row(name: str, rank: int, inverse: bool):
    transform = "ifftn" if inverse else "fftn"

    @op(name, "input: Tcomplex -> output: Tcomplex", types={"Tcomplex": Preferring(COMPLEX)},
        shape=shapes.same_as(0, least=rank))  # fmt: skip
    def row(xp: ModuleType, input: Array):
        _check_rank(input, rank)
        if not input.size:
            return input
        return getattr(xp.fft, transform)(input, axes=_axes(rank)).astype(input.dtype)

    @row.gradient(needs="")
    def _(call: GradientCall, dy: Tensor):
        size = _size(shape_of(dy)[-rank:], dy)
        if inverse:
            return division.RealDiv(FORWARD[rank](dy), size)
        return arithmetic.Mul(BACKWARD[rank](dy), size)

    row.batching(batching.leading())

    @row.samples
    def _(rng: SampleGenerator):
        shape = (3, 4, 5)[-rank:]
        yield Sample(_signal(rng, *shape))
        yield Sample(_signal(rng, 2, *shape).astype(np.complex64))
        yield Sample(_signal(rng, 2, 0, *shape[1:]))
        yield Sample(np.complex128(1), raises=InvalidArgumentError)

    @row.reference
    def _(input: np.ndarray):
        size = np.prod(input.shape[-rank:]) if inverse else 1
        return _sums(input, rank, 1 if inverse else -1) / max(size, 1)

    return row


def _real_row(name: str, rank: int):
    @op(name, "input: Treal, fft_length: int32 -> output: Tcomplex", types={"Treal": Preferring(REAL_PARTS)},
        attrs={"Tcomplex": dtype(dtypes.complex64)}, shape=_real_rule(rank, inverse=False))  # fmt: skip
    def row(xp: ModuleType, input: Array, fft_length: Array, Tcomplex: DType):
        _check_rank(input, rank)
        lengths = _lengths(fft_length, rank)
        outer = input.shape[: input.ndim - rank]
        kind = Tcomplex.as_numpy_dtype
        x = _cropped(input, lengths)
        if not x.size:
            return xp.zeros((*outer, *lengths[:-1], _half(lengths[-1])), kind)
        return xp.fft.rfftn(x, axes=_axes(rank)).astype(kind)

    @row.gradient(needs="fft_length")
    def _(call: GradientCall, dy: Tensor):
        lengths = call.fft_length
        full = BACKWARD[rank](_fit(dy, lengths, rank))
        dx = complex_numbers.real(arithmetic.Mul(full, _size(lengths, dy)))
        return _fit(cast(dx, call.dtype("input")), call.shape("input")[-rank:], rank), None

    row.batching(batching.leading(0))

    @row.samples
    def _(rng):
        for shape in ((3, 4, 5)[-rank:], (3, 5, 6)[-rank:]):
            yield Sample(rng.normal(2, *shape), np.int32(shape), Tcomplex=dtypes.complex128)
        yield Sample(rng.normal(*shape).astype(np.float32), np.int32([2, 3, 4][-rank:]))
        yield Sample(rng.normal(*shape), np.int32([9] * rank), raises=InvalidArgumentError)
        yield Sample(rng.normal(*shape), np.int32([-1] * rank), raises=InvalidArgumentError)
        yield Sample(rng.normal(*shape), np.int32([1] * 4), raises=InvalidArgumentError)
        yield Sample(1.0, np.int32([1] * rank), raises=InvalidArgumentError)

    @row.reference
    def _(input: Any, fft_length: Any, Tcomplex: DType):
        x = input[(..., *(slice(n) for n in fft_length))]
        return _sums(x, rank, -1)[..., : fft_length[-1] // 2 + 1]

    return row


def _multiplicity(lengths):
    """For how many terms of a transform with these `lengths` each of the kept ones stands: 2 or 1."""
    known = static_value(lengths)
    if known is None:
        n = lengths[-1]
        k = range_(choice.SelectV2(n > 0, n // 2 + 1, 0))
        alone = logic.logical_or(comparison.equal(k, 0), comparison.equal(k * 2, n))
        return choice.SelectV2(alone, 1.0, 2.0)
    n = int(known[-1])
    twice = np.full(_half(n), 2.0)
    twice[:1] = 1
    if n % 2 == 0:
        twice[-1:] = 1
    return twice


def _inverse_real_row(name: str, rank: int):
    @op(name, "input: Tcomplex, fft_length: int32 -> output: Treal", types={"Tcomplex": Preferring(COMPLEX)},
        attrs={"Treal": dtype(dtypes.float32)}, shape=_real_rule(rank, inverse=True))  # fmt: skip
    def row(xp: ModuleType, input: Array, fft_length: Array, Treal: DType):
        _check_rank(input, rank)
        lengths = _lengths(fft_length, rank)
        outer = input.shape[: input.ndim - rank]
        kind = Treal.as_numpy_dtype
        x = _cropped(input, [*lengths[:-1], _half(lengths[-1])])
        if not x.size:
            return xp.zeros((*outer, *lengths), kind)
        return xp.fft.irfftn(x, lengths, axes=_axes(rank)).astype(kind)

    @row.gradient(needs="fft_length")
    def _(call: GradientCall, dy: Tensor):
        lengths = call.fft_length
        target = call.dtype("input")
        spectrum = cast(FORWARD_REAL[rank](dy, lengths, target), target)
        # All terms but the first, and the last of an even length, stand for their conjugate too.
        weights = cast(_multiplicity(lengths), target)
        dx = division.RealDiv(arithmetic.Mul(spectrum, weights), _size(lengths, spectrum))
        return _fit(dx, call.shape("input")[-rank:], rank), None

    row.batching(batching.leading(0))

    @row.samples
    def _(rng):
        for shape in ((3, 4, 5)[-rank:], (3, 5, 6)[-rank:]):
            spectrum = np.fft.rfftn(rng.normal(2, *shape), axes=_axes(rank))
            yield Sample(spectrum, np.int32(shape), Treal=dtypes.float64)
        single = np.fft.rfftn(rng.normal(*shape)).astype(np.complex64)
        yield Sample(single, np.int32(shape))
        yield Sample(single, np.int32([99] * rank), raises=InvalidArgumentError)
        yield Sample(single, np.int32([-1] * rank), raises=InvalidArgumentError)
        yield Sample(np.complex64(1), np.int32([1] * rank), raises=InvalidArgumentError)

    @row.reference
    def _(input: np.ndarray, fft_length: np.ndarray, Treal: DType):
        x = _sums(input, rank - 1, 1) if rank == 1 else np.moveaxis(
            _sums(np.moveaxis(input, -1, 0), rank - 1, 1), 0, -1
        )  # fmt: skip
        n = fft_length[-1]
        k, j = np.arange(x.shape[-1]), np.arange(n)
        twice = np.where((k == 0) | (2 * k == n), 1, 2)
        y = ((x * twice) @ np.exp(2j * np.pi * np.outer(k, j) / n)).real
        return y / np.prod(fft_length)

    return row


FORWARD = {
    rank: _complex_row(f"FFT{end}", rank, False) for rank, end in enumerate(("", "2D", "3D"), 1)
}
BACKWARD = {
    rank: _complex_row(f"IFFT{end}", rank, True) for rank, end in enumerate(("", "2D", "3D"), 1)
}
FORWARD_REAL = {rank: _real_row(f"RFFT{end}", rank) for rank, end in enumerate(("", "2D", "3D"), 1)}
BACKWARD_REAL = {
    rank: _inverse_real_row(f"IRFFT{end}", rank) for rank, end in enumerate(("", "2D", "3D"), 1)
}
