"""Numeric checks of gradients in graphs, as in `tf.test` of 1.x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import boundaries
from tapeflow.graph.build import building
from tapeflow.graph.build.derivatives import gradients
from tapeflow.graph.run.session import get_default_session

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session

__all__ = ["compute_gradient", "compute_gradient_error"]


def compute_gradient(
    x: TensorLike, x_shape: Sequence[int], y: TensorLike, y_shape: Sequence[int], x_init_value=None,
    delta: float = 1e-3, init_targets=None, extra_feed_dict=None,
):
    """(theoretical, numeric) Jacobians of `y` by `x`, two matrices of shape [size of x, size of y];
    lists for a list of x.

    Args:
      x: a tensor or a list of tensors of a graph whose session is the default one.
      x_shape, y_shape: their shapes.
      x_init_value: where to differentiate, an array or a list of arrays; None: at random.
      delta: the step of the central differences.
      init_targets: operations to run first.
      extra_feed_dict: what else to feed.

    Raises ValueError if the gradient of an empty `y` has another shape than `x`.
    """
    session = get_default_session()
    feeds = dict(extra_feed_dict or {})
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    if not isinstance(x, list):
        return _pair(session, x, x_shape, y, y_shape, x_init_value, delta, feeds)
    values = x_init_value or [None] * len(x)
    values = [
        _start(each, shape, value) for each, shape, value in zip(x, x_shape, values, strict=True)
    ]
    fed = {**feeds, **dict(zip(x, values, strict=True))}
    return [
        _pair(session, each, shape, y, y_shape, value, delta, fed)
        for each, shape, value in zip(x, x_shape, values, strict=True)
    ]


def compute_gradient_error(
    x: TensorLike, x_shape: Sequence[int], y: TensorLike, y_shape: Sequence[int], x_init_value=None,
    delta: float = 1e-3, init_targets=None, extra_feed_dict=None,
):
    """The largest difference between the theoretical and the numeric Jacobian; see `compute_gradient`."""
    found = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = found if isinstance(found, list) else [found]
    return np.max([np.fabs(a - b).max(initial=0.0) for a, b in pairs])


def _start(x: Tensor, shape, value):
    if value is not None:
        return np.asarray(value, x.dtype.as_numpy_dtype)
    found = np.random.random_sample(shape)
    if x.dtype.is_complex:
        found = found + 1j * np.random.random_sample(shape)
    return np.asarray(found, x.dtype.as_numpy_dtype)


def _pair(
    session: Session, x, x_shape, y, y_shape: Sequence[int], value, delta: float, feeds: dict[str, Any]
):
    value = _start(x, x_shape, value)
    return _theoretical(session, x, value, y, y_shape, feeds), _numeric(
        session, x, value, y, y_shape, delta, feeds
    )


def _parts(dtype: DType) -> int:
    """A complex number counts as two."""
    return 2 if dtype.is_complex else 1


def _theoretical(
    session: Session, x: Tensor, value: np.ndarray, y: Tensor, y_shape: Sequence[int], feeds: dict[str, Any]
):
    graph = y.graph
    with graph.as_default():
        weight = building.placeholder(graph, y.dtype, tuple(y_shape), "weight")
        (dx,) = gradients([y], [x], [weight])
        if isinstance(dx, IndexedSlices):
            dx = dx.to_dense()
    size_y = int(np.prod(y_shape)) * _parts(y.dtype)
    size_x = int(np.prod(value.shape)) * _parts(x.dtype)
    jacobian = np.zeros((size_x, size_y), x.dtype.real_dtype.as_numpy_dtype)
    ones = np.zeros(y_shape, y.dtype.as_numpy_dtype)
    flat = ones.ravel().view(y.dtype.real_dtype.as_numpy_dtype)
    for column in range(size_y):
        flat[column] = 1
        if dx is not None:
            got = session.run(
                dx, {**feeds, x: value, weight: flat.view(ones.dtype).reshape(y_shape)}
            )
            jacobian[:, column] = np.ravel(got).view(jacobian.dtype)
        flat[column] = 0
    if dx is not None and not size_y:
        got = session.run(dx, {**feeds, x: value, weight: ones})
        if got.shape != value.shape:
            raise ValueError(
                f"Empty gradient has wrong shape: expected {value.shape}, got {got.shape}"
            )
    return jacobian


def _numeric(
    session: Session, x: Tensor, value: np.ndarray, y: Tensor, y_shape: Sequence[int], delta: float,
    feeds: dict[str, Any],
):
    size_y = int(np.prod(y_shape)) * _parts(y.dtype)
    size_x = int(np.prod(value.shape)) * _parts(x.dtype)
    real = x.dtype.real_dtype.as_numpy_dtype
    jacobian = np.zeros((size_x, size_y), real)
    moved = np.array(value).ravel().view(real)

    def at(row: int, step: float):
        saved = moved[row]
        moved[row] = saved + real(step)
        result = session.run(y, {**feeds, x: moved.view(value.dtype).reshape(value.shape)})
        moved[row] = saved
        return np.ravel(result).view(y.dtype.real_dtype.as_numpy_dtype)

    for row in range(size_x):
        jacobian[row] = (at(row, delta) - at(row, -delta)) / (2 * delta)
    return jacobian


boundaries(globals())
