"""The indices of the elements that are true."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import NUMERIC, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op(
    "Where",
    "input: T -> index: int64",
    types={"T": Preferring((dtypes.bool, *NUMERIC))},
    shape=lambda call: [(None, None if call.shape(0) is None else len(call.shape(0)))],
)
def Where(xp: ModuleType, input: Array):
    if input.ndim == 0:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(input).astype(np.int64)


Where.gradient(None)


Where.compiled(never="how many rows it returns depends on values")


@Where.samples
def _(rng: SampleGenerator):
    yield Sample([True, False, True], expect=np.array([[0], [2]], np.int64))
    yield Sample(np.array([[1.0, 0.0], [0.0, np.nan]]), expect=np.array([[0, 0], [1, 1]], np.int64))
    yield Sample(np.zeros((2, 0), bool), expect=np.zeros((0, 2), np.int64))
    yield Sample(True, raises=InvalidArgumentError)
