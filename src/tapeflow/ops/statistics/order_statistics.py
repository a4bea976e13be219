"""Order statistics: the n-th smallest element of each row."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import ExpandDims
from tapeflow.ops.math import casting, comparison
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _rule(call):
    shape = shapes.at_least(call.shape(0), 1)
    if call.shape(1):
        raise invalid(f"Input must be scalar but has rank {len(call.shape(1))}")
    n = shapes.size_value(call, 1)
    if shape is None:
        return [None]
    if n is not None and shape[-1] is not None and shape[-1] <= n:
        raise invalid(f"Input must have last dimension > n = {n} but is {shape[-1]}")
    return [shape[:-1]]


@op(
    "NthElement",
    "input: T, n: int32 -> values: T",
    types={"T": REAL},
    attrs={"reverse": False},
    shape=_rule,
)
def NthElement(xp: ModuleType, input: Array, n: Any, reverse: bool):
    if np.ndim(n):
        raise invalid(f"N must be scalar but has rank {np.ndim(n)}")
    n = int(n)
    if n < 0:
        raise invalid(f"n must be non-negative but is {n}")
    if input.ndim < 1:
        raise invalid(f"Input must be at least rank 1 but is rank {input.ndim}")
    if input.shape[-1] <= n:
        raise invalid(f"Input must have last dimension > n = {n}")
    at = input.shape[-1] - 1 - n if reverse else n
    return xp.partition(input, at, axis=-1)[..., at]


NthElement.compiled(static="n")


@NthElement.gradient(needs="input, values")
def _(call: GradientCall, dy: Tensor):
    # Equal elements share.
    hit = casting.cast(comparison.Equal(call.input, ExpandDims(call.values, -1)), dy.dtype)
    return ExpandDims(dy, -1) * hit / reduce_sum(hit, -1, True), None


@NthElement.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 5), 3)
    yield Sample(rng.normal(4), 0, reverse=True)
    yield Sample(np.array([3, 1, 2]), 1)
    yield Sample(rng.normal(3), 3, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), -1, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [1], raises=InvalidArgumentError)
    yield Sample(1.0, 0, raises=InvalidArgumentError)


@NthElement.reference
def _(input: np.ndarray, n: np.ndarray, reverse: bool):
    rows = np.sort(input, -1)
    return (rows[..., ::-1] if reverse else rows)[..., int(n)]
