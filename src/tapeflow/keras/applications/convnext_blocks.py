"""ConvNeXt: convolutions in the manner of transformers (Liu et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.keras import initializers, layers, settings
from tapeflow.keras.applications.building import Plan
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.sequential import Sequential
from tapeflow.keras.noise import NoiseSource
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.rounding import floor


class StochasticDepth(Layer):
    """Leaves out whole samples in training, and makes the others larger by what is left out on average."""

    _keras_module = "keras.src.applications.convnext"

    def __init__(self, drop_path_rate, **kwargs):
        super().__init__(**kwargs)
        self.drop_path_rate = drop_path_rate
        self._noise = NoiseSource(None)

    def call(self, inputs, training: bool | Tensor | None = None):
        if not training:
            return inputs
        kept = 1 - self.drop_path_rate
        shape = concat([shape_of(inputs)[:1], [1] * (inputs.shape.rank - 1)], 0)
        return inputs / kept * floor(kept + cast(self._noise.uniform(shape, "float32"), inputs.dtype))

    def get_config(self):
        return {**super().get_config(), "drop_path_rate": self.drop_path_rate}


class LayerScale(Layer):
    """Multiplies each channel by a weight, which starts small."""

    _keras_module = "keras.src.applications.convnext"

    def __init__(self, init_values, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape: Sequence[Any]):
        start = initializers.Constant(self.init_values)
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=start)
        self.built = True

    def call(self, inputs: Tensor):
        return inputs * self.gamma

    def get_config(self):
        return {**super().get_config(), "init_values": self.init_values, "projection_dim": self.projection_dim}


def _block(inputs: Tensor, channels: int, drop, name: str):
    x = layers.Conv2D(channels, 7, padding="same", groups=channels, name=f"{name}_depthwise_conv")(inputs)
    x = layers.LayerNormalization(epsilon=1e-6, name=f"{name}_layernorm")(x)
    x = layers.Dense(4 * channels, name=f"{name}_pointwise_conv_1")(x)
    x = layers.Activation("gelu", name=f"{name}_gelu")(x)
    x = layers.Dense(channels, name=f"{name}_pointwise_conv_2")(x)
    x = LayerScale(1e-6, channels, name=f"{name}_layer_scale")(x)
    if drop:
        x = StochasticDepth(drop, name=f"{name}_stochastic_depth")(x)
    else:
        x = layers.Activation("linear", name=f"{name}_identity")(x)
    return inputs + x


def _resized(x: Tensor, channels: int, i: int, name: str):
    """A quarter of the size for the stem (i = -1), half of it later."""
    norm, size = layers.LayerNormalization, 4 if i < 0 else 2
    label = f"{name}_stem" if i < 0 else f"{name}_downsampling"
    suffix = "" if i < 0 else f"_{i}"
    parts = [norm(epsilon=1e-6, name=f"{label}_layernorm{suffix}"),
             layers.Conv2D(channels, size, strides=size, name=f"{label}_conv{suffix}")]  # fmt: skip
    whole = f"{name}_stem" if i < 0 else f"{name}_downsampling_block_{i}"
    return Sequential(parts[::-1] if i < 0 else parts, name=whole)(x)


def _convnext(plan, depths, channels, preprocessing, name: str):
    x = plan.inputs
    if preprocessing and x.shape[plan.axis] == 3:
        x = layers.Normalization(
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            variance=[(0.229 * 255) ** 2, (0.224 * 255) ** 2, (0.225 * 255) ** 2],
            name=f"{name}_prestem_normalization",
        )(x)
    drops = iter(np.linspace(0.0, 0.0, sum(depths)).tolist())
    for i, (depth, width) in enumerate(zip(depths, channels)):
        x = _resized(x, width, i - 1, name)
        for j in range(depth):
            x = _block(x, width, next(drops), f"{name}_stage_{i}_block_{j}")
    if plan.include_top:
        x = layers.GlobalAveragePooling2D(name=f"{name}_head_gap")(x)
        x = layers.LayerNormalization(epsilon=1e-6, name=f"{name}_head_layernorm")(x)
        x = layers.Dense(plan.classes, activation=plan.activation, name=f"{name}_head_dense")(x)
        return plan.model(x)
    pooling = {"avg": layers.GlobalAveragePooling2D, "max": layers.GlobalMaxPooling2D}.get(plan.pooling)
    x = x if pooling is None else pooling()(x)
    return plan.model(layers.LayerNormalization(epsilon=1e-6)(x))


def _application(kind: str, depths: Sequence[int], channels):
    default_name = f"convnext_{kind.lower()}"

    def build(
        include_top: bool = True, include_preprocessing: bool = True, weights: str = "imagenet", input_tensor=None,
        input_shape: Sequence[Any] | None = None, pooling=None, classes: int = 1000,
        classifier_activation: str = "softmax", name: str = default_name,
    ):  # fmt: skip
        if settings.image_data_format() == "channels_first":
            raise ValueError("ConvNeXt does not support the `channels_first` image data format.")
        plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _convnext(plan, depths, channels, include_preprocessing, name)

    build.__name__ = build.__qualname__ = f"ConvNeXt{kind}"
    build.__doc__ = f"ConvNeXt-{kind}: {sum(depths)} blocks of {channels[0]} to {channels[-1]} channels."
    return build


ConvNeXtTiny = _application("Tiny", (3, 3, 9, 3), (96, 192, 384, 768))
ConvNeXtSmall = _application("Small", (3, 3, 27, 3), (96, 192, 384, 768))
ConvNeXtBase = _application("Base", (3, 3, 27, 3), (128, 256, 512, 1024))
ConvNeXtLarge = _application("Large", (3, 3, 27, 3), (192, 384, 768, 1536))
ConvNeXtXLarge = _application("XLarge", (3, 3, 27, 3), (256, 512, 1024, 2048))
