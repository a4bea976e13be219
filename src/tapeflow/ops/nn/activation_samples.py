"""Samples of activations, and the check that their gradients share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.table import Sample
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


# Points on both sides of every kink, none on one.
LINE_TYPES = np.array([-7.5, -2.0, -0.5, -1e-3, 1e-3, 0.5, 2.0, 5.5, 6.5, 30.0])


def line_samples(rng: SampleGenerator):
    yield Sample(LINE_TYPES)
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal())
    yield Sample(rng.normal(0, 3))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -1000.0, 1000.0])
    yield Sample(special, differentiable=False)


def require_same_shape(name: str, a, b) -> None:
    if a.shape != b.shape:
        raise invalid(
            f"Inputs to operation {name} of type {name} must have the same size and shape.  "
            f"Input 0: {shape_text(a.shape)} != input 1: {shape_text(b.shape)}"
        )


def pair_samples(rng: SampleGenerator):
    yield Sample(rng.normal(len(LINE_TYPES)), LINE_TYPES)
    yield Sample(rng.normal(2, 0), rng.normal(2, 0))
    yield Sample(rng.normal(2), rng.normal(1), raises=InvalidArgumentError)
    yield Sample(rng.normal(2), rng.normal(2, 1), raises=InvalidArgumentError)


def zero_gradient(dy: Tensor):
    """The gradient of a step function: zeros."""
    return ZerosLike(dy)
