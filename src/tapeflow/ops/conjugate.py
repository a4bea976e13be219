"""The complex conjugate, which every gradient of a complex function needs."""

from __future__ import annotations

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import complex64, complex128
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.table import COMPLEX, Sample, op


@op("Conj", "input: T -> output: T", types={"T": COMPLEX}, shape=shapes.same_as_first,
    default_types={"T": complex64})  # fmt: skip
def Conj(xp, input):
    return xp.conj(input)


@Conj.gradient(needs="")
def _(call, dy):
    return Conj(dy)


@Conj.samples
def _(rng):
    yield Sample(rng.normal(2, 3) + 1j * rng.normal(2, 3))
    yield Sample(rng.normal(0) * 1j)


Conj.reference(lambda input: input.real - 1j * input.imag)


@tensor_function
def conj(x, name=None):
    """The complex conjugate of each element; real tensors as they are."""
    try:
        dtype = x.dtype
        # By identity: most gradients of real functions come through here.
        return Conj(x) if dtype is complex64 or dtype is complex128 else x
    except AttributeError:
        return conj(convert_to_tensor(x))
