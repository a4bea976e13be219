"""Where the parts of a concatenation start."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op(
    "ConcatOffset",
    "concat_dim: int32, shape: N>=2*shape_type -> offset: N*shape_type",
    types={"shape_type": Preferring(INDEX)},
    shape=lambda call: [call.shape(i) for i in range(1, call.count)],
)
def ConcatOffset(xp: ModuleType, concat_dim: Array, shape: Sequence[Array]):
    if np.ndim(concat_dim):
        raise invalid(
            f"Concat dim tensor should be a scalar integer, but got shape {shape_text(np.shape(concat_dim))}"
        )
    for i, sizes in enumerate(shape):
        if np.ndim(sizes) != 1:
            raise invalid(f"input {i} should be a vector, but got shape {shape_text(np.shape(sizes))}")
    rank, axis = len(shape[0]), int(concat_dim)
    if not -rank <= axis < rank:
        raise invalid(f"Concat dim is out of range: {axis} vs. {rank}")
    axis %= rank
    offsets, total = [], 0
    first = [int(n) for n in shape[0]]
    for i, sizes in enumerate(shape):
        if len(sizes) != rank:
            raise invalid(f"input {i} should contain {rank} elements, but got {len(sizes)}")
        own = [int(n) for n in sizes]
        if any(d != axis and a != b for d, (a, b) in enumerate(zip(first, own, strict=True))):
            raise invalid(
                f"All dimensions except {axis} must match. Input {i} has shape [{' '.join(map(str, own))}] and "
                f"doesn't match input 0 with shape [{' '.join(map(str, first))}]."
            )
        offsets.append(np.array([total if d == axis else 0 for d in range(rank)], sizes.dtype))
        total += own[axis]
    return offsets


ConcatOffset.gradient(None)
ConcatOffset.compiled(static="concat_dim, shape")


@ConcatOffset.samples
def _(rng: SampleGenerator):
    a, b, c = (np.array([2, n, 5], np.int32) for n in (3, 7, 5))
    places = [np.array([0, n, 0], np.int32) for n in (0, 3, 10)]
    yield Sample(1, [a, b, c], expect=places)
    yield Sample(-2, [a, b, c], expect=places)
    yield Sample(4, [a, b], raises=InvalidArgumentError)
    yield Sample([1], [a, b], raises=InvalidArgumentError)
    yield Sample(1, [a, b[:2]], raises=InvalidArgumentError)
    yield Sample(0, [a, b], raises=InvalidArgumentError)
    yield Sample(1, [a[None], b[None]], raises=InvalidArgumentError)
