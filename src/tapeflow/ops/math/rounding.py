"""Numbers rounded to integers."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.math.elementwise import SIGNED
from tapeflow.ops.math.elementwise_samples import line, per_element
from tapeflow.ops.table import FLOATING, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


@op("Floor", "x: T -> y: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes="weakness")
def Floor(xp: ModuleType, x: Array):
    return xp.floor(x)


Floor.gradient(None)
Floor.samples(line)
Floor.reference(per_element(math.floor))


@api("math.floor", "floor")
@tensor_function
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integers not above `x`, in its dtype."""
    return Floor(x)


@op("Ceil", "x: T -> y: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes="weakness")
def Ceil(xp: ModuleType, x: Array):
    return xp.ceil(x)


Ceil.gradient(None)
Ceil.samples(line)
Ceil.reference(per_element(math.ceil))


@api("math.ceil", v1="ceil")
@tensor_function
def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest integers not below `x`, in its dtype."""
    return Ceil(x)


@op("Rint", "x: T -> y: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes="weakness")
def Rint(xp: ModuleType, x: Array):
    return xp.rint(x)


Rint.gradient(None)


@Rint.samples
def _(rng: SampleGenerator):
    yield from line(rng)
    yield Sample(
        np.array([-1.7, -0.5, 0.5, 1.5, 2.5]), expect=np.array([-2.0, -0.0, 0.0, 2.0, 2.0])
    )


Rint.reference(per_element(lambda v: float(f"{v:.0f}")))


@api("math.rint", v1="rint")
@tensor_function
def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integers, halves to even, in the dtype of `x`."""
    return Rint(x)


@op("Round", "x: T -> y: T", types={"T": SIGNED}, shape=shapes.elementwise, promotes="weakness")
def Round(xp: ModuleType, x: Array):
    return x if np.issubdtype(x.dtype, np.integer) else xp.rint(x)


Round.gradient(None)


@Round.samples
def _(rng: SampleGenerator):
    yield from line(rng)
    yield Sample(np.array([0.9, 2.5, 2.3, 1.5, -4.5]), expect=np.array([1.0, 2.0, 2.0, 2.0, -4.0]))


Round.reference(per_element(lambda v: float(f"{v:.0f}") if isinstance(v, float) else v))


@api("math.round", "round")
@tensor_function
def round(x: TensorLike, name: str | None = None):
    """The nearest integers, halves to even, in the dtype of `x`; integers stay as they are."""
    x = convert_to_tensor(x)
    return x if x.dtype.is_integer else Round(x)
