"""`tf.contrib.nn`: functions of networks that did not stay."""

from __future__ import annotations

from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import uniform

__all__ = ["alpha_dropout", "nth_element", "scaled_softplus"]


def alpha_dropout(
    x: TensorLike, keep_prob: float, noise_shape: ShapeLike | None = None, seed: int | None = None,
    name: str | None = None
):
    """Dropout that keeps mean and variance of self-normalising networks (Klambauer et al. 2017).

    Raises ValueError for a probability outside (0, 1].
    """
    x = convert_to_tensor(x)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob}")
    if keep_prob == 1:
        return x
    alpha = -1.7580993408473766
    kept = floor(keep_prob + uniform(shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype))
    a = (keep_prob + keep_prob * (1 - keep_prob) * alpha**2) ** -0.5
    b = -a * alpha * (1 - keep_prob)
    return a * (x * kept + alpha * (1 - kept)) + b


def scaled_softplus(x: TensorLike, alpha: float, clip=None, name: str | None = None):
    """alpha * softplus(x / alpha), clipped where a bound is given."""
    x = convert_to_tensor(x)
    y = alpha * softplus(x / alpha)
    return y if clip is None else minimum(y, clip)


def nth_element(input: TensorLike, n: int, reverse: bool = False, name: str | None = None):
    """The nth smallest (or largest) of the last axis."""
    return gather(sort(input, direction="DESCENDING" if reverse else "ASCENDING"), n, axis=-1)
