"""Initializers of kernels of convolutions that keep the norm of what they are applied to (Xiao et al. 2018)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import DTypeLike
from tapeflow.v1.initializers import Initializer

__all__ = [
    "convolutional_delta_orthogonal", "convolutional_orthogonal_1d", "convolutional_orthogonal_2d",
    "convolutional_orthogonal_3d",
]  # fmt: skip

_Blocks = dict[tuple[int, ...], Any]


def _orthogonal(size: int, dtype: DTypeLike, seed: int | None) -> Any:
    q, r = v1.linalg.qr(v1.random_normal([size, size], dtype=dtype, seed=seed))
    return q * v1.sign(v1.linalg.diag_part(r))


class _OfConvolution(Initializer):
    """What these initializers share.

    Args:
      gain: what the norm of an input is multiplied by.
      seed: of the random numbers.
      dtype: of the kernel, where none is given.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = v1.float32):
        self.gain, self.seed, self.dtype = gain, seed, v1.as_dtype(dtype)
        if not self.dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {self.dtype}.")

    def get_config(self):
        """The constructor's arguments."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class convolutional_delta_orthogonal(_OfConvolution):
    """An orthogonal matrix in the middle of the kernel, zeros elsewhere; see `_OfConvolution`.

    Kernels have 3 to 5 dimensions, and no more channels of input than of output.
    """

    def _make(self, sizes: Sequence[int], dtype: Any):
        if not 3 <= len(sizes) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        if sizes[-2] > sizes[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        matrix = _orthogonal(sizes[-1], dtype, self.seed)[: sizes[-2], :] * v1.cast(self.gain, dtype)
        middle = [(size - 1) // 2 for size in sizes[:-2]]
        return v1.scatter_nd([middle], matrix[v1.newaxis], sizes)


class _Exact(_OfConvolution):
    """Orthogonal for inputs that go on at the other end; `_rank` axes of places, all of one size."""

    _rank = 0
    _word = ""

    def _make(self, sizes: Sequence[int], dtype: Any):
        if len(sizes) != self._rank + 2:
            raise ValueError(f"The tensor to initialize must be {self._word}-dimensional")
        if sizes[-2] > sizes[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(sizes[:-2])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        return self._kernel(sizes[0], sizes[-2], sizes[-1]) * v1.cast(self.gain, dtype)

    def _next_seed(self) -> int | None:
        seed = self.seed
        if seed:
            self.seed = seed + 1
        return seed

    def _kernel(self, size: int, inputs: int, outputs: int) -> Any:
        first = _orthogonal(outputs, self.dtype, self._next_seed())[:inputs, :]
        blocks: _Blocks = {(0,) * self._rank: v1.eye(outputs, dtype=self.dtype)}
        for _ in range(size - 1):
            blocks = _convolved(blocks, self._smallest(outputs))
        kernel = v1.stack([first @ blocks[place] for place in itertools.product(range(size), repeat=self._rank)])
        return v1.reshape(kernel, [*[size] * self._rank, inputs, outputs])

    def _smallest(self, size: int) -> _Blocks:
        """The blocks of an orthogonal kernel of two places an axis: products of projections and of what they leave."""
        whole = v1.eye(size, dtype=self.dtype)
        parts = []
        for _ in range(self._rank):
            projection = self._projection(size)
            parts.append((projection, whole - projection))
        found = {}
        for place in itertools.product(range(2), repeat=self._rank):
            product = parts[0][place[0]]
            for part, which in zip(parts[1:], place[1:], strict=True):
                product = product @ part[which]
            found[place] = product
        return found

    def _projection(self, size: int) -> Any:
        matrix = _orthogonal(size, self.dtype, self._next_seed())
        kept = v1.cast(v1.random_normal([size], seed=self._next_seed()) > 0, self.dtype)
        columns = matrix * kept
        return v1.matmul(columns, columns, transpose_b=True)


def _convolved(first: _Blocks, second: _Blocks) -> _Blocks:
    """The convolution of two kernels of matrices."""
    found: _Blocks = {}
    for (place, a), (other, b) in itertools.product(first.items(), second.items()):
        where = tuple(i + j for i, j in zip(place, other, strict=True))
        product = a @ b
        found[where] = found[where] + product if where in found else product
    return found


class convolutional_orthogonal_1d(_Exact):
    """An orthogonal kernel [size, inputs, outputs] for circular padding; see `_OfConvolution`."""

    _rank, _word = 1, "three"


class convolutional_orthogonal_2d(_Exact):
    """An orthogonal kernel [size, size, inputs, outputs] for circular padding; see `_OfConvolution`."""

    _rank, _word = 2, "four"


class convolutional_orthogonal_3d(_Exact):
    """An orthogonal kernel [size, size, size, inputs, outputs] for circular padding; see `_OfConvolution`."""

    _rank, _word = 3, "five"
