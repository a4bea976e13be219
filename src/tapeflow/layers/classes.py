"""The classes of `tf.layers`: Keras layers with the argument names and defaults of 1.x."""

from __future__ import annotations

from tapeflow.core.dtypes import as_dtype
from tapeflow.keras import layers as keras_layers


class Layer(keras_layers.Layer):
    """Base of the layers of 1.x: weights have the dtype of the first input, where none was given."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        kwargs.pop("_scope", None)
        kwargs.pop("_reuse", None)
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)

    @property
    def scope_name(self):
        """The name of the scope of the layer's variables."""
        return self.name

    @property
    def graph(self):
        """The graph that the layer belongs to: none, eagerly."""
        raise RuntimeError("Layer.graph not supported when executing eagerly.")

    def __call__(self, *args, **kwargs):
        if not self.built and not self._dtype_given:
            dtype = getattr(args[0] if args else None, "dtype", None)
            if dtype is not None and as_dtype(dtype).is_floating:
                self._set_dtype(as_dtype(dtype))
        return super().__call__(*args, **kwargs)

    def apply(self, inputs, *args, **kwargs):
        """Calls the layer."""
        return self(inputs, *args, **kwargs)


class Dense(keras_layers.Dense, Layer):
    """See keras.layers.Dense."""

    _plain_call = True


class Conv1D(keras_layers.Conv1D, Layer):
    """See keras.layers.Conv1D."""


class Conv2D(keras_layers.Conv2D, Layer):
    """See keras.layers.Conv2D."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", **kwargs):
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class Conv3D(keras_layers.Conv3D, Layer):
    """See keras.layers.Conv3D."""


class Conv2DTranspose(keras_layers.Conv2DTranspose, Layer):
    """See keras.layers.Conv2DTranspose."""


class SeparableConv1D(keras_layers.SeparableConv1D, Layer):
    """See keras.layers.SeparableConv1D."""


class SeparableConv2D(keras_layers.SeparableConv2D, Layer):
    """See keras.layers.SeparableConv2D."""


class MaxPooling1D(keras_layers.MaxPooling1D, Layer):
    """See keras.layers.MaxPooling1D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class MaxPooling2D(keras_layers.MaxPooling2D, Layer):
    """See keras.layers.MaxPooling2D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class MaxPooling3D(keras_layers.MaxPooling3D, Layer):
    """See keras.layers.MaxPooling3D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling1D(keras_layers.AveragePooling1D, Layer):
    """See keras.layers.AveragePooling1D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling2D(keras_layers.AveragePooling2D, Layer):
    """See keras.layers.AveragePooling2D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling3D(keras_layers.AveragePooling3D, Layer):
    """See keras.layers.AveragePooling3D; strides must be given."""

    def __init__(
        self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class BatchNormalization(keras_layers.BatchNormalization, Layer):
    """See keras.layers.BatchNormalization."""

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


class Dropout(keras_layers.Dropout, Layer):
    """See keras.layers.Dropout."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


class Flatten(keras_layers.Flatten, Layer):
    """See keras.layers.Flatten."""

    _plain_call = True
