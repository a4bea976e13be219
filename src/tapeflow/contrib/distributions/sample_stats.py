"""Statistics of samples: percentiles, and how a series resembles itself later."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import rank as rank_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from tapeflow.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.control.shape_assertions import assert_rank_v1 as assert_rank
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.math.reductions import reduce_mean
from tapeflow.ops.math.rounding import ceil, floor
from tapeflow.ops.math.rounding import round as round_
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.signal.fft_functions import fft, ifft
from tapeflow.ops.static import get_static_value

__all__ = ["auto_correlation", "percentile"]

_ROUNDINGS = {"lower": ceil, "higher": floor, "nearest": round_}


def percentile(
    x: TensorLike, q: Any, axis: AxisLike | None = None, interpolation: str | None = None, keep_dims: bool = False,
    validate_args: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The element below which `q` percent of the elements are; no values between elements are made.

    Args:
      x: a tensor of known rank, unless `axis` is None.
      q: a scalar in [0, 100].
      axis: the axes that are reduced, known when the graph is built; None: all.
      interpolation: "nearest" (the default), "lower" or "higher": which element, where `q` is between two.
      keep_dims: whether reduced axes stay, with the size one.
      validate_args: whether `q` is checked.
      name: the name scope.
    Returns a tensor of the dtype of `x`.
    Raises ValueError for another interpolation, a `q` that is no scalar, and axes that are unknown or out of range.
    """
    interpolation = "nearest" if interpolation is None else interpolation
    if interpolation not in _ROUNDINGS:
        raise ValueError(f"Argument 'interpolation' must be in {set(_ROUNDINGS)}.  Found {interpolation}")
    with name_scope(name, "percentile", [x, q]):
        x, q = convert_to_tensor(x, name="x"), cast(q, dtypes.float64)
        if q.shape.rank not in (None, 0):
            raise ValueError(f"Expected argument 'q' to have ndims 0.  Found tensor {q}")
        checks = []
        if validate_args:
            least, most = cast(0.0, q.dtype), cast(100.0, q.dtype)
            checks = [assert_rank(q, 0), assert_greater_equal(q, least), assert_less_equal(q, most)]
        axes = None if axis is None else _axes(axis, x)
        rows = reshape(x, [-1]) if axes is None else _flat_at_the_end(x, axes)
        size = shape_of(rows)[-1]
        # Counted from the largest element, so that of two as near the same one is chosen as by TensorFlow.
        place = _ROUNDINGS[interpolation](cast(size - 1, q.dtype) * (1.0 - q / 100.0))
        with control_dependencies(checks):
            place = clip_by_value(cast(place, dtypes.int32), 0, size - 1)
        found = sort(rows, direction="DESCENDING")[..., place]
        found.set_shape(rows.shape[:-1])
        if not keep_dims:
            return found
        if axes is None:
            return reshape(found, [1] * x.shape.rank if x.shape.rank is not None else 0 * shape_of(shape_of(x)) + 1)
        for each in sorted(axes):
            found = expand_dims(found, each)
        return found


def _axes(axis: Any, x: Any) -> list[int]:
    """The axes, from 0 on."""
    known = get_static_value(convert_to_tensor(axis))
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if known.ndim > 1:
        raise ValueError(f"Expected argument 'axis' to have ndims <= 1.  Found tensor {axis}")
    if x.shape.rank is None:
        raise ValueError(f"Expected argument 'x' to have statically defined 'ndims'.  Found: {x}")
    found = []
    for each in known.reshape(-1).tolist():
        if not -x.shape.rank <= each < x.shape.rank:
            raise ValueError(f"dim {each} not in the interval [-{x.shape.rank}, {x.shape.rank - 1}].")
        found.append(each % x.shape.rank)
    return found


def _flat_at_the_end(x: Any, axes: list[int]) -> Tensor:
    """The axes moved to the end, as one."""
    front = [i for i in range(x.shape.rank) if i not in axes]
    moved = transpose(x, front + axes)
    known = moved.shape[: len(front)]
    sizes = known.as_list() if known.is_fully_defined() else shape_of(moved)[: len(front)]
    found = reshape(moved, concat([sizes, [-1]], 0) if front else [-1])
    found.set_shape([*known.as_list(), None])
    return found


def auto_correlation(
    x: TensorLike, axis: int = -1, max_lags: TensorLike | None = None, center: bool = True, normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:  # fmt: skip
    """The means of the products of a series with itself, later by 0, 1, ... `max_lags` steps.

    Args:
      x: a floating or complex tensor.
      axis: along which the series run.
      max_lags: the largest number of steps, by default all; no more than the length allows.
      center: whether the mean is taken away first.
      normalize: whether all are divided by the first one, the variance.
      name: the name scope.
    Returns a tensor like `x`, with `max_lags` + 1 elements along the axis.
    Raises TypeError for other dtypes.
    """
    with name_scope(name, "auto_correlation", [x]):
        x = convert_to_tensor(x, name="x")
        if not (x.dtype.is_complex or x.dtype.is_floating):
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        order, back = _to_the_end(x, axis)
        series = transpose(x, order)
        if center:
            series -= reduce_mean(series, axis=-1, keepdims=True)
        shape = shape_of(series)
        length = shape[-1]
        padded = concat([series, zeros(shape, x.dtype)], -1)  # so that the end does not meet the beginning
        wave = dtypes.complex128 if x.dtype.real_dtype == dtypes.float64 else dtypes.complex64
        spectrum = fft(cast(padded, wave))
        products = cast(ifft(spectrum * conj(spectrum)), x.dtype)
        lags = length - 1 if max_lags is None else minimum(length - 1, max_lags)
        counts = cast(length - range_(0, lags + 1), x.dtype)
        found = products[..., : lags + 1] / counts
        if normalize:
            found /= found[..., :1]
        known_lags, known_length = get_static_value(lags), series.shape.as_list()[-1] if series.shape.rank else None
        if known_lags is None and max_lags is None and known_length is not None:
            known_lags = known_length - 1
        if series.shape.rank is not None:
            found.set_shape([*series.shape.as_list()[:-1], None if known_lags is None else int(known_lags) + 1])
        return transpose(found, back)


def _to_the_end(x: Any, axis: int) -> tuple[Any, Any]:
    """The order of axes that puts one at the end, and the order that puts it back."""
    rank = x.shape.rank
    if rank is None:
        rank = rank_of(x)
        at = axis if axis >= 0 else rank + axis
        front = range_(0, rank)
        order = concat([front[:at], front[at + 1 :], [at]], 0)
        return order, concat([front[:at], [rank - 1], front[at : rank - 1]], 0)
    at = axis % rank
    front = [i for i in range(rank) if i != at]
    return [*front, at], [*front[:at], rank - 1, *[i - 1 for i in front[at:]]]
