"""Half the sum of squares."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import flops, shapes
from tapeflow.ops.math import reduction
from tapeflow.ops.table import FLOATING, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator


@op("L2Loss", "t: T -> output: T", types={"T": FLOATING}, shape=shapes.scalar)
def L2Loss(xp: ModuleType, t: Array):
    return (xp.square(t).sum() / t.dtype.type(2)).astype(t.dtype)


L2Loss.flops(flops.squares_summed)


@L2Loss.batching
def _(call: BatchedCall):
    rank = call.ranks[0]
    if rank is None:
        return None
    return [reduction.Sum(call.inputs[0] * call.inputs[0], list(range(1, rank + 1))) / 2]


@L2Loss.gradient(needs="t")
def _(call: GradientCall, dy: Tensor):
    return call.t * dy


@L2Loss.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal())
    yield Sample(rng.normal(0))


@L2Loss.reference
def _(t: np.ndarray):
    return np.array(sum(float(v) ** 2 for v in np.ravel(t)) / 2, t.dtype)


@api("nn.l2_loss")
@tensor_function
def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of the squares of `t`, a scalar."""
    return L2Loss(t)
