"""Numbers: scaling, normalization by learned statistics, bins, and encodings of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.layers.preprocessing.base import (
    AdaptiveLayer,
    PreprocessingLayer,
    as_tensor,
    batches_of,
    encode,
    encoded_shape,
)
from tapeflow.keras.layers.preprocessing.encoding import check_output_mode, compress
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import sqrt
from tapeflow.ops.statistics.histogram import Bucketize


class Rescaling(PreprocessingLayer):
    """inputs * scale + offset, in training and outside of it.

    Args:
      scale: a number, or an array that broadcasts against the inputs.
      offset: a number or an array likewise.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Rescaling(1 / 127.5, offset=-1)
    >>> print(layer(tf.constant([0, 255])).numpy())
    [-1.  1.]
    """

    def __init__(self, scale: float, offset: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs: TensorLike):
        dtype = self._compute_dtype_object
        scale = as_tensor(np.asarray(self.scale), dtype)
        offset = as_tensor(np.asarray(self.offset), dtype)
        return as_tensor(inputs, dtype) * scale + offset

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(input_shape)

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "offset": self.offset}


class Normalization(AdaptiveLayer):
    """(inputs - mean) / sqrt(variance), with statistics that `adapt` learns, or that are given.

    Output shape: that of the inputs.

    Args:
      axis: the axes that have statistics of their own; None for one mean of all numbers.
      mean: the mean, a number or an array; None to learn it by `adapt`.
      variance: the variance, given together with the mean.
      invert: turn normalized inputs back: inputs * sqrt(variance) + mean.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: where only one of mean and variance is given.

    >>> layer = tf.keras.layers.Normalization(axis=None)
    >>> layer.adapt(np.array([1.0, 3.0]))
    >>> print(layer(tf.constant([1.0, 2.0, 3.0])).numpy())
    [-1.  0.  1.]
    """

    def __init__(
        self, axis: int = -1, mean: TensorLike | None = None, variance=None, invert: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        self.input_mean, self.input_variance, self.invert = mean, variance, invert
        self.supports_masking = True
        self.__dict__["_mean"] = self.__dict__["_variance"] = None
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )

    def build(self, input_shape: ShapeLike):
        if input_shape is None:
            return
        sizes = TensorShape(input_shape).as_list()
        rank = len(sizes)
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError(
                "All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                f"ndim={rank}, while axis={self.axis}"
            )
        kept = sorted(axis % rank for axis in self.axis)
        for axis in kept:
            if sizes[axis] is None:
                raise ValueError(
                    "All `axis` values to be kept must have a known shape. Received "
                    f"axis={self.axis}, inputs.shape={tuple(sizes)}, with unknown axis at index {axis}"
                )
        attributes = self.__dict__
        if attributes["_input_shape_seen"] is None:  # built by `adapt`
            attributes["_input_shape_seen"] = TensorShape(input_shape)
        attributes["_reduced"] = tuple(i for i in range(rank) if i not in kept)
        attributes["_broadcast"] = [sizes[i] if i in kept else 1 for i in range(rank)]
        shape = [sizes[i] for i in kept]
        if self.input_mean is None:
            self.adapt_mean = self.add_weight("mean", shape, initializer="zeros", trainable=False)
            self.adapt_variance = self.add_weight(
                "variance", shape, initializer="ones", trainable=False
            )
            self.count = self.add_weight("count", (), "int64", initializer="zeros", trainable=False)
            self.built = True
            self.finalize_state()
            return
        attributes["_mean"], attributes["_variance"] = (
            self._given(value, rank, kept) for value in (self.input_mean, self.input_variance)
        )
        self.built = True

    def _given(self, value, rank, kept):
        value = np.asarray(value, "float32")
        if value.ndim and value.ndim <= len(kept):
            full = [1] * rank
            for i in range(1, value.ndim + 1):
                full[kept[-i]] = value.shape[-i]
            value = value.reshape(full)
        return as_tensor(np.broadcast_to(value, self._broadcast).copy(), self._compute_dtype_object)

    def adapt(self, data, batch_size=None, steps=None):
        """Learn mean and variance from data.

        Args:
          data: an array, or batches: a dataset or another iterable.
          batch_size: accepted as in Keras; arrays are one batch.
          steps: how many batches are looked at; None for all.

        Raises:
          ValueError: for a layer whose statistics were given.
        """
        if self.input_mean is not None:
            raise ValueError(
                "Cannot `adapt` a Normalization layer that is initialized with static `mean` and "
                "`variance`."
            )
        total, mean, variance = 0, 0.0, 0.0
        if isinstance(data, (list, tuple)) and not any(hasattr(x, "shape") for x in data):
            data = np.asarray(data)
        for batch in batches_of(data, steps):
            batch = np.asarray(batch, "float32")
            if not self.built:
                self.build(TensorShape([None, *batch.shape[1:]]))
            if batch.ndim != len(self._broadcast):
                batch = batch.reshape([-1, *self._broadcast[1:]])
            ours = batch.shape[0]
            if not ours:
                mean = variance = np.nan  # as the mean of nothing is
                continue
            its_mean, its_variance = batch.mean(self._reduced), batch.var(self._reduced)
            weight = total / (total + ours)
            new = mean * weight + its_mean * (1.0 - weight)
            variance = (variance + (mean - new) ** 2) * weight + (
                its_variance + (its_mean - new) ** 2
            ) * (1.0 - weight)
            mean, total = new, total + ours
        if not self.built:  # of a dataset without elements
            self.build(data.element_spec.shape)
        self.adapt_mean.assign(np.broadcast_to(mean, self.adapt_mean.shape.as_list()))
        self.adapt_variance.assign(np.broadcast_to(variance, self.adapt_variance.shape.as_list()))
        self.finalize_state()

    def finalize_state(self):
        """Makes the learned statistics ready for use."""
        if self.input_mean is not None or not self.built:
            return
        for name, weight in (("mean", self.adapt_mean), ("variance", self.adapt_variance)):
            self.__dict__[f"_{name}"] = weight

    @property
    def mean(self):
        """The mean of each feature, in a shape that inputs can be computed with; None before it is known."""
        return None if self._mean is None else self._statistic("mean")

    @property
    def variance(self):
        """The variance of each feature, likewise."""
        return None if self._variance is None else self._statistic("variance")

    def _statistic(self, name):
        return cast(
            reshape(as_tensor(self.__dict__[f"_{name}"]), self._broadcast), self._compute_dtype_object
        )

    def call(self, inputs: TensorLike):
        x = as_tensor(inputs, self._compute_dtype_object)
        mean = self._statistic("mean")
        scale = maximum(sqrt(self._statistic("variance")), settings.epsilon())
        return mean + x * scale if self.invert else (x - mean) / scale

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(input_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "invert": self.invert,
            "mean": None if self.input_mean is None else np.asarray(self.input_mean).tolist(),
            "variance": None
            if self.input_mean is None
            else np.asarray(self.input_variance).tolist(),
        }


class Discretization(AdaptiveLayer):
    """Maps each number to the number of its bin; bins from `bin_boundaries`, or of about equal content from `adapt`.

    Args:
      bin_boundaries: the n - 1 ascending numbers between n bins; a number on a boundary belongs to the bin above.
      num_bins: the number of bins to learn by `adapt`, instead of boundaries.
      epsilon: how exact the quantiles of `adapt` are, as a part of all numbers.
      output_mode: "int" for the bins' numbers; "one_hot", "multi_hot" or "count" for vectors.
      sparse: whether vectors are given as a `SparseTensor`.
      dtype: of vectors; None for `keras.config.floatx()`.
      name: the name of the layer.

    Raises:
      ValueError: unless one of `bin_boundaries` and `num_bins` is given, and for an unknown mode.

    >>> layer = tf.keras.layers.Discretization(bin_boundaries=[0.0, 1.0])
    >>> print(layer(tf.constant([-1.0, 0.0, 0.5, 3.0])).numpy())
    [0 1 1 2]
    """

    _only_in_configs = ("trainable", "batch_input_shape")

    def __init__(
        self, bin_boundaries: Sequence[float] | None = None, num_bins: int | None = None,
        epsilon: float = 0.01, output_mode: str = "int", sparse: bool = False, dtype: DTypeLike | None = None,
        name: str | None = None,
    ):
        super().__init__(name=name, dtype=dtype)
        check_output_mode(type(self).__name__, output_mode, sparse)
        if num_bins is not None and num_bins < 0:
            raise ValueError(
                f"`num_bins` must be greater than or equal to 0. Received: `num_bins={num_bins}`"
            )
        if num_bins is not None and bin_boundaries is not None:
            raise ValueError(
                "Both `num_bins` and `bin_boundaries` should not be set. Received: "
                f"`num_bins={num_bins}` and `bin_boundaries={bin_boundaries}`"
            )
        if num_bins is None and bin_boundaries is None:
            raise ValueError("You need to set either `num_bins` or `bin_boundaries`.")
        self.bin_boundaries, self.num_bins = bin_boundaries, num_bins
        self.epsilon, self.output_mode, self.sparse = epsilon, output_mode, sparse
        self.summary = np.zeros([2, 0], "float32")

    @property
    def output_dtype(self):
        """The dtype of the outputs, by name."""
        return "int32" if self.output_mode == "int" else self.compute_dtype

    def adapt(self, data, batch_size: int | None = None, steps: int | None = None):
        """Learn the boundaries of `num_bins` bins from data.

        Args:
          data: an array, or batches: a dataset or another iterable.
          batch_size: accepted as in Keras; arrays are one batch.
          steps: how many batches are looked at; None for all.

        Raises:
          ValueError: for a layer whose boundaries were given.
        """
        if self.num_bins is None:
            raise ValueError(
                "Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, "
                "use `num_bins` instead."
            )
        super().adapt(data, batch_size, steps)

    def reset_state(self):
        """Forgets the quantiles."""
        self.summary = np.zeros([2, 0], "float32")

    def update_state(self, data: np.ndarray):
        """Takes a batch into the quantiles."""
        values = np.sort(np.asarray(data, "float32").reshape(-1))
        step = max(values.size * self.epsilon, 1)
        values = values[int(step - 1) :: int(step)]
        merged = np.concatenate([np.stack([values, np.full_like(values, step)]), self.summary], 1)
        self.summary = compress(merged[:, np.argsort(merged[0])], self.epsilon)

    def finalize_state(self):
        """Sets the boundaries from the quantiles."""
        if self.num_bins is not None:
            self.bin_boundaries = compress(self.summary, 1.0 / self.num_bins)[0, :-1].tolist()

    def _symbolic_outputs(self, inputs, args, kwargs):
        if self.bin_boundaries is not None:
            return super()._symbolic_outputs(inputs, args, kwargs)
        # A model may be made of the layer before it learns, as the models in files are.
        return KerasTensor.unnamed(self.compute_output_shape(inputs.shape), dtypes.as_dtype(self.output_dtype))

    def load_own_variables(self, store):
        """Takes the quantiles out of a store, which has them only in a file of Keras 2."""
        if "0" in store and self.num_bins is not None:
            self.summary = np.asarray(store["0"])
            self.finalize_state()

    def take_learned(self, saved):
        """Takes the quantiles out of the layer's object in a SavedModel of Keras 2."""
        if self.bin_boundaries is None:
            self.summary = saved.summary.numpy()
            self.finalize_state()

    def call(self, inputs):
        if self.bin_boundaries is None:
            raise ValueError(
                "You need to either pass the `bin_boundaries` argument at construction time or call "
                "`adapt(dataset)` before you can start using the `Discretization` layer."
            )
        inputs = as_tensor(inputs)
        boundaries = [float(x) for x in self.bin_boundaries]

        def number(x):
            return Bucketize(
                x if x.dtype.is_floating else cast(x, dtypes.float32), boundaries=boundaries
            )

        if isinstance(inputs, SparseTensor):
            indices = inputs.with_values(number(inputs.values))
        elif hasattr(inputs, "flat_values"):
            indices = inputs.with_flat_values(number(inputs.flat_values))
        else:
            indices = number(inputs)
        return encode(
            indices, self.output_mode, len(boundaries) + 1, self.output_dtype, self.sparse
        )

    def compute_output_shape(self, input_shape: Sequence[Any]):
        depth = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        return TensorShape(
            encoded_shape(TensorShape(input_shape).as_list(), self.output_mode, depth)
        )

    def get_config(self):
        known = keras_2() and self.bin_boundaries is not None  # which takes one of them
        return {
            "bin_boundaries": self.bin_boundaries,
            "num_bins": None if known else self.num_bins,
            "epsilon": self.epsilon,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A layer from the constructor's arguments; both bins and boundaries, where it has learned."""
        config = dict(config)
        boundaries = config["bin_boundaries"]
        if boundaries is not None and config.get("num_bins") is not None:
            config["bin_boundaries"] = None
        layer = super().from_config(config)
        layer.bin_boundaries = boundaries
        return layer
