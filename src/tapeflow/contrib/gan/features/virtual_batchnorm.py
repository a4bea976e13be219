"""Virtual batch normalization: each example by the statistics of a fixed batch and its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike


def _statistics(x, axes: Sequence[int]):
    """The means and the means of squares, of half floats by way of floats."""
    y = v1.cast(x, v1.float32) if x.dtype == v1.float16 else x
    shift = v1.stop_gradient(v1.reduce_mean(y, axes, keepdims=True))
    mean = v1.squeeze(v1.reduce_mean(y - shift, axes, keepdims=True) + shift, axes)
    squares = v1.reduce_mean(v1.square(y), axes)
    return v1.cast(mean, x.dtype), v1.cast(squares, x.dtype)


def _positive(reference: Any, axis: int):
    """The axis from the front. Raises ValueError for one that is not there."""
    rank = reference.shape.rank
    if rank is None:
        raise ValueError("`reference_batch` has unknown dimensions.")
    used = rank + axis if axis < 0 else axis
    if not 0 <= used < rank:
        raise ValueError(
            f"Value of `axis` argument {used} is out of range for input with rank {rank}"
        )
    return used


class VBN:
    """Batch normalization whose result for one example does not depend on the others of its batch.

    Args:
      reference_batch: the fixed batch.
      axis: of the channels; `batch_axis`: of the examples.
      epsilon: what is added to variances.
      center, scale: whether an offset `beta` and a factor `gamma` are learned, with initializers and regularizers.

    Raises ValueError for axes that are not there or the same.
    """

    def __init__(
        self, reference_batch, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer=None,
        gamma_initializer=None, beta_regularizer=None, gamma_regularizer=None, trainable=True, name=None,
        batch_axis=0,
    ):  # fmt: skip
        axis = _positive(reference_batch, axis)
        self._batch_axis = _positive(reference_batch, batch_axis)
        if axis == self._batch_axis:
            raise ValueError("`axis` and `batch_axis` cannot be the same.")
        self._reference, self._epsilon = reference_batch, epsilon
        self._beta = self._gamma = None
        rank = reference_batch.shape.rank
        self._spread = [1] * rank
        self._spread[axis] = v1.Dimension(reference_batch.shape[axis]).value
        self._of_example = [i for i in range(rank) if i not in (axis, self._batch_axis)]
        with v1.variable_scope(name, "VBN", values=[reference_batch]) as self._scope:
            self._mean, self._squares = _statistics(
                reference_batch, [i for i in range(rank) if i != axis]
            )
            count = v1.cast(v1.shape(reference_batch)[self._batch_axis], reference_batch.dtype)
            self._own_weight = 1.0 / (count + 1.0)
            shape = (reference_batch.shape[axis],)
            if center:
                self._beta = v1.get_variable(
                    "beta", shape, initializer=beta_initializer or v1.zeros_initializer(),
                    regularizer=beta_regularizer, trainable=trainable,
                )  # fmt: skip
            if scale:
                self._gamma = v1.get_variable(
                    "gamma", shape, initializer=gamma_initializer or v1.ones_initializer(),
                    regularizer=gamma_regularizer, trainable=trainable,
                )  # fmt: skip

    def _normalized(self, x: TensorLike, mean: Tensor, squares: Tensor, shape: ShapeLike):
        def spread(value, shape):
            return value if value is None else v1.reshape(value, shape)

        return v1.nn.batch_normalization(
            x, spread(mean, shape), spread(squares - v1.square(mean), shape), spread(self._beta, self._spread),
            spread(self._gamma, self._spread), self._epsilon,
        )  # fmt: skip

    def reference_batch_normalization(self):
        """The fixed batch, normalized by itself."""
        with v1.name_scope(self._scope.name):
            return self._normalized(self._reference, self._mean, self._squares, self._spread)

    def __call__(self, inputs: Tensor):
        """A batch, each example normalized by the fixed batch and itself."""
        shapes = [x.shape.as_list() for x in (inputs, self._reference)]
        for shape in shapes:
            del shape[self._batch_axis]
        v1.TensorShape(shapes[0]).assert_is_compatible_with(shapes[1])
        with v1.name_scope(self._scope.name, values=[inputs, self._reference]):
            own, weight = _statistics(inputs, self._of_example), self._own_weight
            mean, squares = (
                weight * mine + (1.0 - weight) * fixed
                for mine, fixed in zip(own, (self._mean, self._squares), strict=True)
            )
            shape = list(self._spread)
            shape[self._batch_axis] = v1.shape(inputs)[self._batch_axis]
            return self._normalized(inputs, mean, squares, shape)
