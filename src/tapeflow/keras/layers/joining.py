"""Layers that join tensors end to end, or multiply them as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.merging import Merge, of_one_dtype
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all, reduce_any
from tapeflow.ops.nn.normalization import l2_normalize
from tapeflow.ops.static import sizes_of


class Concatenate(Merge):
    """Joins a list of tensors along an axis; all other sizes must be the same.

    Args:
      axis: the axis along which they are joined.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: at the call, for inputs that are not a list, and for other sizes that differ.

    >>> layer = tf.keras.layers.Concatenate()
    >>> print(layer([tf.zeros([2, 3]), tf.zeros([2, 5])]).shape)
    (2, 8)
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Sequence[Any]):
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) < 1:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 1 input. Received: "
                f"input_shape={input_shape}"
            )
        shapes = [TensorShape(s).as_list() for s in input_shape]
        rest = {
            tuple(size for i, size in enumerate(s) if i != self.axis % len(s)) for s in shapes if s
        }
        if len({len(s) for s in shapes}) > 1 or any(
            len({size for size in column if size is not None}) > 1 for column in zip(*rest)
        ):
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the "
                f"concatenation axis. Received: input_shape={[tuple(s) for s in shapes]}"
            )
        self.built = True

    def call(self, inputs: Sequence[Tensor]):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: inputs={inputs} (not "
                "a list of tensors)"
            )
        return concat(of_one_dtype(inputs), axis=self.axis)

    def compute_output_shape(self, input_shape):
        shapes = [TensorShape(s).as_list() for s in input_shape]
        sizes = [next((x for x in column if x is not None), None) for column in zip(*shapes)]
        along = [s[self.axis] for s in shapes]
        sizes[self.axis] = None if None in along else sum(along)
        return TensorShape(sizes)

    def compute_mask(self, inputs, mask=None):
        """The masks joined, all steps of inputs without one counting.

        Along the last axis a step counts if it does in all inputs; in Keras 3 if it does in any.
        """
        if mask is None:
            return None
        if isinstance(mask, (list, tuple)) and len(mask):
            super().compute_mask(inputs, [None] * len(mask))
        else:
            super().compute_mask(inputs, mask)
        if all(m is None for m in mask):
            return None
        parts = []
        for x, m in zip(inputs, mask):
            if m is None:
                parts.append(cast(ones_like(x), "bool"))
            elif not keras_2():
                m = cast(m, "bool")
                wide = logical_or(expand_dims(m, -1), zeros_like(x, "bool")) if len(m.shape) < len(x.shape) else m
                parts.append(wide)
            else:
                m = cast(m, "bool")
                parts.append(expand_dims(m, -1) if len(m.shape) < len(x.shape) else m)
        return (reduce_all if keras_2() else reduce_any)(concat(parts, axis=self.axis), axis=-1)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class Dot(Merge):
    """The products of two tensors, summed over one axis of each, for each example of the batch.

    Output shape: `(batch, ...)`, the other axes of the first, then those of the second; `(batch, 1)` if there are
      none.

    Args:
      axes: the axis of both, or one for each; axis 0 is the batch.
      normalize: scale the vectors along these axes to length 1 before, for cosine similarity.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      TypeError: for `axes` that are not an integer or a list.
      ValueError: for a list of other than two axes, and at the call for other than two tensors.

    >>> a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])
    >>> print(tf.keras.layers.Dot(axes=1)([a, b]).numpy())
    [[11.]]
    """

    def __init__(self, axes: AxisLike, normalize: bool = False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, (int, list, tuple)):
            raise TypeError(
                f"Invalid type for argument `axes`: it should be a list or an int. Got {axes}"
            )
        if not isinstance(axes, int) and len(axes) != 2:
            raise ValueError(
                f"Invalid format for argument `axes`: it should contain two elements. Got {axes}"
            )
        self.axes, self.normalize = axes, normalize

    def build(self, input_shape: Sequence[Any]):
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) != 2:
            raise ValueError(
                f"A `Dot` layer should be called on a list of 2 inputs. Received: {input_shape}"
            )
        self.built = True

    def _axes(self, ranks):
        axes = [self.axes] * 2 if isinstance(self.axes, int) else list(self.axes)
        return [axis % rank for axis, rank in zip(axes, ranks)]

    def call(self, inputs):
        first, second = inputs
        axes = self._axes([len(first.shape), len(second.shape)])
        if self.normalize:
            first = l2_normalize(first, axis=axes[0])
            second = l2_normalize(second, axis=axes[1])
        outer = []
        folded = []
        for x, axis, last in ((first, axes[0], True), (second, axes[1], False)):
            sizes = sizes_of(x)
            batch = sizes[0]
            others = [i for i in range(1, len(sizes)) if i != axis]
            x = transpose(x, [0, *others, axis] if last else [0, axis, *others])
            outer += [sizes[i] for i in others]
            folded.append(
                reshape(x, [sizes[0], -1, sizes[axis]] if last else [sizes[0], sizes[axis], -1])
            )
        return reshape(matmul(*folded), [batch, *(outer or [1])])

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        """None: the product has no steps."""
        return

    def compute_output_shape(self, input_shape: Sequence[Any]):
        if not isinstance(input_shape, (tuple, list)) or len(input_shape) != 2:
            raise ValueError(
                f"A `Dot` layer should be called on a list of 2 inputs. Received: input_shape={input_shape}"
            )
        shapes = [TensorShape(s).as_list() for s in input_shape]
        axes = self._axes([len(s) for s in shapes])
        outer = [
            size for s, axis in zip(shapes, axes) for i, size in enumerate(s) if i not in (0, axis)
        ]
        return TensorShape([shapes[0][0], *(outer or [1])])

    def get_config(self):
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def concatenate(inputs: TensorLike, axis: AxisLike = -1, **kwargs):
    """Join a list of tensors by a `Concatenate` layer.

    Args:
      inputs: a list of tensors whose sizes differ along `axis` alone.
      axis: the axis along which they are joined.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The joined tensor.
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: TensorLike, axes: AxisLike = -1, **kwargs):
    """Multiply two tensors by a `Dot` layer.

    Args:
      inputs: a list of two tensors.
      axes: the axis of both to sum over, or one for each.
      **kwargs: `normalize`, and other arguments of the layer.

    Returns:
      The products, a tensor.
    """
    return Dot(axes=axes, **kwargs)(inputs)


boundaries(globals())
