"""Checks of the numbers that flow through a program."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, public
from tapeflow.ops import shapes
from tapeflow.ops.signature import string
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

_SCHEMA: dict[str, Any] = {
    "types": {"T": FLOATING},
    "attrs": {"message": string},
    "shape": shapes.elementwise,
}


def _special_samples(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), message="msg")
    yield Sample(rng.normal(0), message="msg")
    yield Sample(np.array([1.0, np.nan]), message="msg", raises=InvalidArgumentError)
    yield Sample(np.array([1.0, np.inf]), message="msg", raises=InvalidArgumentError)
    yield Sample(np.array([1.0, -np.inf]), message="msg", raises=InvalidArgumentError)


@op("CheckNumerics", "tensor: T -> output: T", **_SCHEMA, stateful=True, moves=True)
def CheckNumerics(xp: ModuleType, tensor: Array, message: str):
    if xp is np and not np.isfinite(tensor).all():
        found = [
            n
            for n, hit in (("Inf", np.isinf(tensor).any()), ("NaN", np.isnan(tensor).any()))
            if hit
        ]
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@CheckNumerics.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return CheckNumerics(dy, "Not a number (NaN) or infinity (Inf) values detected in gradient.")


CheckNumerics.compiled(checks=True)
CheckNumerics.samples(_special_samples)
CheckNumerics.reference(lambda tensor, message: tensor)


@op("CheckNumericsV2", "tensor: T -> output: T", **_SCHEMA, stateful=True, moves=True)
def CheckNumericsV2(xp: ModuleType, tensor: Array, message: str):
    if xp is np and not np.isfinite(tensor).all():
        signs = (
            ("-Inf", np.isneginf(tensor.astype(np.float64)).any()),
            ("+Inf", np.isposinf(tensor.astype(np.float64)).any()),
            ("NaN", np.isnan(tensor).any()),
        )
        found = [name for name, hit in signs if hit]
        joined = found[0] if len(found) == 1 else " and ".join(found)
        if len(found) > 2:
            joined = ", ".join(found[:-1]) + ", and " + found[-1]
        raise invalid(f"{message} : Tensor had {joined} values")
    return tensor


@CheckNumericsV2.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return CheckNumericsV2(dy, "Not a number (NaN) or infinity (Inf) values detected in gradient.")


CheckNumericsV2.compiled(checks=True)
CheckNumericsV2.samples(_special_samples)
CheckNumericsV2.reference(lambda tensor, message: tensor)


@api("debugging.check_numerics", v1="check_numerics")
@public
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Check that no element is NaN or infinite, and return the tensor.

    Args:
      tensor: a floating tensor.
      message: a text that begins the error.
      name: a name for the operation (optional).

    Returns:
      `tensor`.

    Raises:
      InvalidArgumentError: for NaN and infinities, also in the gradient.

    >>> tf.debugging.check_numerics([1.0, 2.0], "the loss")
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    return CheckNumerics(tensor, message)


@api(v2="debugging.assert_all_finite")
@public
@graph_scope("VerifyFinite")
def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Check that no element is NaN or infinite, and return the tensor.

    Args:
      x: a floating tensor.
      message: a text that begins the error.
      name: a name for the operation (optional).

    Returns:
      `x`.

    Raises:
      InvalidArgumentError: for NaN and infinities, also in the gradient.
    """
    return CheckNumerics(x, message)


@api(v1=("debugging.assert_all_finite", "verify_tensor_all_finite"))
@public
@graph_scope("VerifyFinite")
def assert_all_finite_v1(
    t: TensorLike | None = None, msg=None, name: str | None = None, x: TensorLike | None = None,
    message: str | None = None,
):
    """`assert_all_finite` with the 1.x spellings `t` and `msg`.

    Args:
      t: a tensor of floats.
      msg: what the error says.
      name: a name for the operation (optional).
      x: the new name of `t`.
      message: the new name of `msg`.
    """
    return CheckNumerics(t if x is None else x, msg if message is None else message)
