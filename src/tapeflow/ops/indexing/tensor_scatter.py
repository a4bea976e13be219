"""Copies of a tensor with some elements updated: `tensor_scatter_nd_*`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.indexing import gather_nd
from tapeflow.ops.indexing.scatter import (
    POLICY,
    SCATTER_INDEX,
    reference_scatter,
    updated_rule,
    write_updates,
    written,
)
from tapeflow.ops.math import arithmetic, casting, comparison
from tapeflow.ops.table import ANY, INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _tensor_scatter(xp: ModuleType, tensor: Array, indices: Array, updates: Array, how: str, policy: str):
    if indices.ndim < 1:
        raise invalid(
            f"Indices shape must have rank at least one. Found:{shape_text(indices.shape)}"
        )
    if updates.ndim < indices.ndim - 1 or updates.shape[: indices.ndim - 1] != indices.shape[:-1]:
        raise invalid(
            "Outer dimensions of indices and update must match. Indices shape: "
            f"{shape_text(indices.shape)}, updates shape:{shape_text(updates.shape)}"
        )
    depth = indices.shape[-1]
    if depth > tensor.ndim or tensor.shape[depth:] != updates.shape[indices.ndim - 1 :]:
        raise invalid(
            "Inner dimensions of output shape must match inner dimensions of updates shape. Output: "
            f"{shape_text(tensor.shape)} updates: {shape_text(updates.shape)}"
        )
    return write_updates(xp, xp.array(tensor), indices, updates, how, policy)


_SIGNATURE = "tensor: T, indices: Tindices, updates: T -> output: T"


def _tensor_scatter_samples(rng: SampleGenerator):
    yield Sample(rng.normal(4), [[0], [2]], rng.normal(2))
    yield Sample(rng.normal(4, 3), [[3], [1]], rng.normal(2, 3))
    yield Sample(rng.normal(2, 2), [[0, 1]], rng.normal(1))
    yield Sample(rng.normal(3), np.zeros((0, 1), np.int32), rng.normal(0))
    yield Sample(rng.normal(3), [[0], [3]], rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [[0], [-1]], rng.normal(2), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [[0], [1]], rng.normal(3), raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 3), [[0, 0, 0]], rng.normal(1), raises=InvalidArgumentError)
    yield Sample(rng.normal(), [[0]], rng.normal(1), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), 0, rng.normal(), raises=InvalidArgumentError)


@op(
    "TensorScatterUpdate",
    _SIGNATURE,
    types={"T": ANY, "Tindices": (*SCATTER_INDEX, dtypes.uint16)},
    attrs=POLICY,
    shape=updated_rule,
)
def TensorScatterUpdate(
    xp: ModuleType, tensor: Array, indices: Array, updates: Array, bad_indices_policy: str
):
    return _tensor_scatter(xp, tensor, indices, updates, "update", bad_indices_policy)


@TensorScatterUpdate.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    part = gather_nd.GatherNd(dy, call.indices)
    return TensorScatterUpdate(dy, call.indices, ZerosLike(part)), None, part


TensorScatterUpdate.samples(_tensor_scatter_samples)


@TensorScatterUpdate.reference
def _(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(tensor, indices, updates, lambda a, b: b)


@op(
    "TensorScatterAdd",
    _SIGNATURE,
    types={"T": NUMERIC, "Tindices": INDEX},
    attrs=POLICY,
    shape=updated_rule,
)
def TensorScatterAdd(xp: ModuleType, tensor: Array, indices: Array, updates: Array, bad_indices_policy: str):
    return _tensor_scatter(xp, tensor, indices, updates, "add", bad_indices_policy)


@TensorScatterAdd.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    return dy, None, gather_nd.GatherNd(dy, call.indices)


@TensorScatterAdd.samples
def _(rng: SampleGenerator):
    yield from _tensor_scatter_samples(rng)
    yield Sample(rng.normal(4), [[0], [0], [2]], rng.normal(3))


@TensorScatterAdd.reference
def _(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(tensor, indices, updates, lambda a, b: a + b)


@op(
    "TensorScatterSub",
    _SIGNATURE,
    types={"T": NUMERIC, "Tindices": INDEX},
    attrs=POLICY,
    shape=updated_rule,
)
def TensorScatterSub(xp: ModuleType, tensor: Array, indices: Array, updates: Array, bad_indices_policy: str):
    return _tensor_scatter(xp, tensor, indices, updates, "subtract", bad_indices_policy)


@TensorScatterSub.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    return dy, None, -gather_nd.GatherNd(dy, call.indices)


@TensorScatterSub.samples
def _(rng: SampleGenerator):
    yield from _tensor_scatter_samples(rng)
    yield Sample(rng.normal(4), [[0], [0], [2]], rng.normal(3))


@TensorScatterSub.reference
def _(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(tensor, indices, updates, lambda a, b: a - b)


def _extreme_gradient(call: GradientCall, dy: Tensor):
    """The gradient goes to whichever won, split where several are equal."""
    won = gather_nd.GatherNd(call.output, call.indices)
    by_update = casting.cast(comparison.equal(call.updates, won), call.dtype("updates"))
    by_tensor = casting.cast(comparison.equal(call.tensor, call.output), call.dtype("updates"))
    count = TensorScatterAdd(by_tensor, call.indices, by_update)
    share = dy / arithmetic.maximum(count, count * 0 + 1)
    return share * by_tensor, None, gather_nd.GatherNd(share, call.indices) * by_update


@op(
    "TensorScatterMin",
    _SIGNATURE,
    types={"T": REAL, "Tindices": INDEX},
    attrs=POLICY,
    shape=updated_rule,
)
def TensorScatterMin(xp: ModuleType, tensor: Array, indices: Array, updates: Array, bad_indices_policy: str):
    return _tensor_scatter(xp, tensor, indices, updates, "min", bad_indices_policy)


TensorScatterMin.gradient(needs="tensor, indices, updates, output")(_extreme_gradient)
TensorScatterMin.samples(_tensor_scatter_samples)


@TensorScatterMin.reference
def _(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(tensor, indices, updates, lambda a, b: np.where(a < b, a, b))


@op(
    "TensorScatterMax",
    _SIGNATURE,
    types={"T": REAL, "Tindices": INDEX},
    attrs=POLICY,
    shape=updated_rule,
)
def TensorScatterMax(xp: ModuleType, tensor: Array, indices: Array, updates: Array, bad_indices_policy: str):
    return _tensor_scatter(xp, tensor, indices, updates, "max", bad_indices_policy)


TensorScatterMax.gradient(needs="tensor, indices, updates, output")(_extreme_gradient)
TensorScatterMax.samples(_tensor_scatter_samples)


@TensorScatterMax.reference
def _(tensor: np.ndarray, indices: np.ndarray, updates: np.ndarray, bad_indices_policy: str):
    return reference_scatter(tensor, indices, updates, lambda a, b: np.where(a > b, a, b))


@api("tensor_scatter_nd_update", v1="tensor_scatter_update")
@tensor_function
def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Replace elements or slices of a tensor at coordinates.

    Args:
      tensor: a tensor of any dtype.
      indices: an int16, uint16, int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n
        dimensions.
      updates: what to write, `indices.shape[:-1] + tensor.shape[n:]`. Which of several updates of the same
        coordinates stays is not defined.
      name: a name for the operation (optional).

    Returns:
      A new tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for coordinates outside of `tensor`, and for shapes that do not fit.

    >>> tf.tensor_scatter_nd_update([0, 0, 0, 0], [[1], [3]], [9, 8])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 9, 0, 8], dtype=int32)>
    """
    return TensorScatterUpdate(tensor, indices, updates)


@api("tensor_scatter_nd_add", v1="tensor_scatter_add")
@tensor_function
def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """Add updates to a tensor at coordinates.

    Args:
      tensor: a numeric tensor.
      indices: an int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n dimensions.
      updates: what to add, `indices.shape[:-1] + tensor.shape[n:]`; updates of the same coordinates add up.
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of `tensor` raise; "IGNORE": they are left
        out.
      name: a name for the operation (optional).

    Returns:
      A new tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for coordinates outside of `tensor`, and for shapes that do not fit.

    >>> tf.tensor_scatter_nd_add([1, 1, 1, 1], [[0], [2]], [10, 20])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([11,  1, 21,  1], dtype=int32)>
    """
    return written(TensorScatterAdd, tensor, indices, updates, bad_indices_policy)


@api("tensor_scatter_nd_sub", v1="tensor_scatter_sub")
@tensor_function
def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """Subtract updates from a tensor at coordinates.

    Args:
      tensor: a numeric tensor.
      indices: an int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n dimensions.
      updates: what to subtract, `indices.shape[:-1] + tensor.shape[n:]`; updates of the same coordinates add up.
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of `tensor` raise; "IGNORE": they are left
        out.
      name: a name for the operation (optional).

    Returns:
      A new tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for coordinates outside of `tensor`, and for shapes that do not fit.

    >>> tf.tensor_scatter_nd_sub([1, 1, 1, 1], [[0], [2]], [10, 20])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([ -9,   1, -19,   1], dtype=int32)>
    """
    return written(TensorScatterSub, tensor, indices, updates, bad_indices_policy)


@api("tensor_scatter_nd_min")
@tensor_function
def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """Take the smaller of a tensor's elements and updates at coordinates.

    Args:
      tensor: a real tensor.
      indices: an int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n dimensions.
      updates: what to compare with, `indices.shape[:-1] + tensor.shape[n:]`.
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of `tensor` raise; "IGNORE": they are left
        out.
      name: a name for the operation (optional).

    Returns:
      A new tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for coordinates outside of `tensor`, and for shapes that do not fit.

    >>> tf.tensor_scatter_nd_min([1, 5, 1], [[0], [1]], [3, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 1], dtype=int32)>
    """
    return written(TensorScatterMin, tensor, indices, updates, bad_indices_policy)


@api("tensor_scatter_nd_max")
@tensor_function
def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "",
    name: str | None = None,
):
    """Take the larger of a tensor's elements and updates at coordinates.

    Args:
      tensor: a real tensor.
      indices: an int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n dimensions.
      updates: what to compare with, `indices.shape[:-1] + tensor.shape[n:]`.
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of `tensor` raise; "IGNORE": they are left
        out.
      name: a name for the operation (optional).

    Returns:
      A new tensor of the dtype and shape of `tensor`.

    Raises:
      InvalidArgumentError: for coordinates outside of `tensor`, and for shapes that do not fit.

    >>> tf.tensor_scatter_nd_max([1, 5, 1], [[0], [1]], [3, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 5, 1], dtype=int32)>
    """
    return written(TensorScatterMax, tensor, indices, updates, bad_indices_policy)
