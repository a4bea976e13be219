"""The complex conjugate, which every gradient of a complex function needs."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from tapeflow._native import Tensor, Variable
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import complex64, complex128, float32, float64, variant
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import COMPLEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


@op(
    "Conj", "input: T -> output: T", types={"T": Preferring(COMPLEX)}, shape=shapes.elementwise,
    promotes="weakness",
)  # fmt: skip
def Conj(xp: ModuleType, input: Array):
    return xp.conj(input)


@Conj.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return Conj(dy)


@Conj.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3) + 1j * rng.normal(2, 3))
    yield Sample(rng.normal(0) * 1j)


Conj.reference(lambda input: input.real - 1j * input.imag)


@api("math.conj", v1="conj")
@tensor_function
def conj(x: TensorLike, name: str | None = None):
    """The complex conjugate of each element; real tensors as they are. Raises TypeError for what is no number."""
    if not isinstance(x, (Tensor, Variable)):
        x = convert_to_tensor(x)
    dtype = x.dtype
    # By identity and first: most gradients of real functions come through here.
    if dtype is float32 or dtype is float64:
        return x
    if dtype is complex64 or dtype is complex128:
        return Conj(x)
    if not (dtype.is_floating or dtype.is_integer or dtype == variant):
        raise TypeError(f"Expected numeric or variant tensor, got dtype {dtype!r}.")
    return x
