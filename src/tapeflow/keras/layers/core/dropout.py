"""Dropout of single elements, and of whole channels."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.keras.noise import GeneratorOfNoise, NoiseSource


class Dropout(SameShape):
    """While training, sets a random part `rate` of the inputs to 0 and multiplies the others by 1 / (1 - rate).

    Outside of training (`training=False`, the default of a call on its own) the inputs are returned as they are. The
    outputs have the shape of the inputs.

    Args:
      rate: the part to set to 0, from 0 to 1.
      noise_shape: the shape of the pattern of zeros, 1 for axes along which it is the same and None for the size of
        the input; None for one of the inputs' shape.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a number outside of 0 to 1.

    >>> layer = tf.keras.layers.Dropout(0.5)
    >>> print(layer(tf.constant([1.0, 2.0])).numpy())
    [1. 2.]
    >>> print(layer(tf.ones([4]), training=True).shape)
    (4,)
    """

    _built_at_init = True
    seed_generator = GeneratorOfNoise()

    def __init__(self, rate: float, noise_shape=None, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        checks.part_to_drop(rate)
        self.rate, self.noise_shape, self.seed = rate, checks.noise_shape(noise_shape), seed
        self._noise = NoiseSource(seed) if not isinstance(rate, (int, float)) or rate > 0 else None

    def _noise_shape(self, inputs: Tensor):
        if self.noise_shape is None:
            return None
        sizes = inputs.shape.as_list()
        return [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]

    def call(self, inputs, training=None):
        if training is None or training is False:
            return inputs
        if isinstance(self.rate, (int, float)) and not self.rate:
            return inputs
        return by_phase(
            training,
            lambda: self._noise.dropout(inputs, self.rate, self._noise_shape(inputs)),
            lambda: inputs,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }


class BaseSpatialDropout(Dropout):
    """Dropout of whole channels: the shape of the noise is not an argument."""

    def get_config(self):
        if keras_2():
            return super().get_config()
        order = {"data_format": self.data_format} if hasattr(self, "data_format") else {}
        return {"rate": self.rate, "seed": self.seed, **order, "name": self.name, "dtype": self.dtype}


class SpatialDropout1D(BaseSpatialDropout):
    """Dropout of whole channels: a channel is 0 at all steps of an example, or at none.

    Input shape: `(batch, steps, channels)`, which is also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, seed: int | None = None, name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        return [sizes[0], 1, sizes[2]]


class SpatialDropout2D(BaseSpatialDropout):
    """Dropout of whole channels of images: a channel is 0 at all pixels of an example, or at none.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first; also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=4)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        if self.data_format == "channels_first":
            return [sizes[0], sizes[1], 1, 1]
        return [sizes[0], 1, 1, sizes[3]]


class SpatialDropout3D(BaseSpatialDropout):
    """Dropout of whole channels of volumes: a channel is 0 in the whole volume of an example, or nowhere.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first; also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=5)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        if self.data_format == "channels_first":
            return [sizes[0], sizes[1], 1, 1, 1]
        return [sizes[0], 1, 1, 1, sizes[4]]
