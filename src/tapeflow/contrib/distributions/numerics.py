"""Functions of numbers that are computed without overflow and cancellation."""

from __future__ import annotations

import numpy as np

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, tensor_function
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import exp, expm1, log, sign
from tapeflow.ops.math.float_kinds import is_inf
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_max, reduce_sum

__all__ = ["reduce_weighted_logsumexp", "softplus_inverse"]


@tensor_function
def softplus_inverse(x: TensorLike, name: str | None = None):
    """The value whose softplus is `x`."""
    x = convert_to_tensor(x)
    # For tiny x it is log(x), for large x it is x, to the last bit.
    bound = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
    tiny, large = x < np.exp(bound), x > -bound
    safe = where(tiny | large, ones_like(x), x)
    found = where(large, x, safe + log(-expm1(-safe)))
    return where(tiny, log(where(tiny, x, ones_like(x))), found)


@tensor_function
def reduce_weighted_logsumexp(
    logx: TensorLike, w: TensorLike | None = None, axis: AxisLike | None = None, keep_dims: bool = False,
    return_sign: bool = False, name: str | None = None,
):  # fmt: skip
    """log |sum of w exp(logx)|.

    Args:
      logx: logarithms.
      w: weights of any sign, of a shape that broadcasts to that of `logx`; None: ones.
      axis: what is summed over; None: everything.
      keep_dims: whether these axes stay, with size 1.
      return_sign: whether the sign of the sum is returned too.

    Returns:
      The logarithm; with `return_sign`, a pair of it and the sign.
    """
    logx = convert_to_tensor(logx)
    if w is None:
        found = reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
        return (found, ones_like(found)) if return_sign else found
    w = convert_to_tensor(w, logx.dtype)
    logs = logx + log(abs_(w))
    most = reduce_max(logs, axis, keepdims=True)
    most = where(is_inf(most), zeros_like(most), most)
    total = reduce_sum(sign(w) * exp(logs - most), axis, keepdims=keep_dims)
    found = (most if keep_dims else squeeze(most, axis)) + log(abs_(total))
    return (found, sign(total)) if return_sign else found


boundaries(globals())
