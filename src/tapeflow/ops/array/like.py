"""Rows of zeros and of ones in the shape of a tensor."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.ops import shapes
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.table import ANY, NUMERIC, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op("ZerosLike", "x: T -> y: T", types={"T": ANY}, shape=shapes.elementwise, promotes="weakness", foldable=True)
def ZerosLike(xp: ModuleType, x: np.ndarray):
    if x.dtype == object:
        if all(isinstance(v, bytes) for v in x.flat):
            return xp.full(x.shape, b"", object)
        return list_payload.zeros_like_variants(x)
    return xp.zeros(x.shape, x.dtype)


ZerosLike.gradient(None)


@ZerosLike.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal(0))
    yield Sample(np.array([b"a"], object), expect=np.array([b""], object))


@ZerosLike.reference
def _(x: np.ndarray):
    return np.asarray(x) * np.asarray(0, np.asarray(x).dtype)


@op(
    "OnesLike",
    "x: T -> y: T",
    types={"T": (*NUMERIC, dtypes.bool)},
    shape=shapes.elementwise,
    promotes="weakness",
    foldable=True,
)
def OnesLike(xp: ModuleType, x: Array):
    return xp.ones(x.shape, x.dtype)


OnesLike.gradient(None)


@OnesLike.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal())


@OnesLike.reference
def _(x: np.ndarray):
    return (np.asarray(x) == np.asarray(x)).astype(np.asarray(x).dtype)
