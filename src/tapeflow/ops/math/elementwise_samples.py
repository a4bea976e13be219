"""Inputs and references that whole families of elementwise rows share in their tests."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.table import Sample

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def line(rng: SampleGenerator):
    """Any real number: a matrix, a scalar, a tensor without elements."""
    yield Sample(rng.normal(3, 4))
    yield Sample(np.asarray(rng.normal()))
    yield Sample(rng.normal(0, 2))


def positive(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(2, 3)) + 0.5)
    yield Sample(np.asarray(1.75))
    yield Sample(rng.normal(2, 0))


def unit(rng: SampleGenerator):
    """Numbers well inside (-1, 1)."""
    yield Sample(np.tanh(rng.normal(3, 2)) * 0.9)
    yield Sample(np.asarray(-0.25))
    yield Sample(rng.normal(0))


def above_one(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(2, 3)) + 1.5)
    yield Sample(rng.normal(0))


def pairs(rng: SampleGenerator):
    """Two tensors: of one shape, broadcasting in every way, without elements, and shapes that do not fit."""
    yield Sample(rng.normal(3, 4), rng.normal(3, 4))
    yield Sample(rng.normal(2, 1, 3), rng.normal(4, 1))
    yield Sample(np.asarray(rng.normal()), rng.normal(2, 3))
    yield Sample(rng.normal(3, 1), np.asarray(rng.normal()))
    yield Sample(rng.normal(0, 3), rng.normal(1, 3))
    yield Sample(rng.normal(2, 3), rng.normal(4), raises=InvalidArgumentError)


def quotients(rng: SampleGenerator):
    """Like `pairs`, the second away from zero."""
    yield Sample(rng.normal(3, 4), _away(rng.normal(3, 4)))
    yield Sample(rng.normal(2, 1, 3), _away(rng.normal(4, 1)))
    yield Sample(rng.normal(2, 3), np.asarray(-1.5))
    yield Sample(rng.normal(0, 3), _away(rng.normal(1, 3)))
    yield Sample(rng.normal(2), _away(rng.normal(3)), raises=InvalidArgumentError)


def positive_pairs(rng: SampleGenerator):
    yield Sample(np.abs(rng.normal(3, 2)) + 0.5, np.abs(rng.normal(3, 2)) + 0.5)
    yield Sample(np.abs(rng.normal(2, 1)) + 0.5, np.abs(rng.normal(3)) + 0.5)
    yield Sample(np.asarray(0.75), np.abs(rng.normal(0)))
    yield Sample(rng.normal(2), rng.normal(3), raises=InvalidArgumentError)


def whole_pairs(rng: SampleGenerator):
    """Integers of both signs."""
    yield Sample(np.array([7, -7, 7, -7, 0], np.int32), np.array([2, 2, -2, -2, 5], np.int32))
    yield Sample(np.array([[9], [-4]], np.int64), np.array([3, 4, -5], np.int64))
    yield Sample(np.zeros((0,), np.int32), np.array([3], np.int32))
    yield Sample(np.ones(2, np.int32), np.ones(3, np.int32), raises=InvalidArgumentError)


def truths(rng: SampleGenerator):
    yield Sample(np.array([True, True, False, False]), np.array([True, False, True, False]))
    yield Sample(np.array([[True], [False]]), np.array([True, False]))
    yield Sample(np.asarray(True), np.zeros((0, 2), bool))
    yield Sample(np.ones(2, bool), np.ones(3, bool), raises=InvalidArgumentError)


def _away(x: np.ndarray):
    return np.where(x < 0, x - 0.5, x + 0.5)


def per_element(real, complex_: Callable[..., Any] | None = None):
    """A reference that calls a scalar function of Python's for each element.

    `real` and `complex_` are functions, or the name of one in `math` and `cmath`.
    """
    if isinstance(real, str):
        real, complex_ = getattr(math, real), getattr(cmath, real, None)

    def reference(*inputs):
        arrays = np.broadcast_arrays(*[np.asarray(x) for x in inputs])
        of_complex = arrays[0].dtype.kind == "c"
        function, convert = (complex_, complex) if of_complex else (real, float)
        if arrays[0].dtype.kind in "iub":
            convert = int
        out = [
            function(*(convert(v) for v in row)) for row in zip(*map(np.ravel, arrays), strict=True)
        ]
        kind = np.complex128 if of_complex else np.int64 if convert is int else np.float64
        return np.array(out, kind).reshape(arrays[0].shape)

    return reference
