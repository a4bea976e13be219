"""Which numbers are NaN, infinite or finite."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math.elementwise_samples import per_element
from tapeflow.ops.table import FLOATING, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _kind_of_float(name: str, function: str, reference: Callable[..., Any]):
    @op(name, "x: T -> y: bool", types={"T": FLOATING}, shape=shapes.elementwise)
    def row(xp: ModuleType, x: Array):
        return getattr(xp, function)(x)

    row.gradient(None)

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(np.array([0.0, -1.5, math.nan, math.inf, -math.inf]))
        yield Sample(rng.normal(0, 2))

    row.reference(per_element(reference))
    return row


IsNan = _kind_of_float("IsNan", "isnan", lambda v: v != v)
IsInf = _kind_of_float("IsInf", "isinf", lambda v: v in (math.inf, -math.inf))
IsFinite = _kind_of_float("IsFinite", "isfinite", lambda v: v - v == 0)


@api("math.is_nan", v1=("debugging.is_nan", "is_nan"))
@tensor_function
def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is NaN."""
    return IsNan(x)


@api("math.is_inf", v1=("debugging.is_inf", "is_inf"))
@tensor_function
def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is an infinity."""
    return IsInf(x)


@api("math.is_finite", v1=("debugging.is_finite", "is_finite"))
@tensor_function
def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element is neither an infinity nor NaN."""
    return IsFinite(x)
