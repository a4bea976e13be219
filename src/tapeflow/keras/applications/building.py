"""What all the models of `keras.applications` share: their inputs, their tops and their weights."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras import layers, settings
from tapeflow.keras.engine.functional.inputs import make_input
from tapeflow.keras.engine.model import Model
from tapeflow.keras.utils.tensors import get_source_inputs, is_keras_tensor


class Plan:
    """The arguments of an application, checked.

    Raises ValueError for weights that are no file, numbers of classes and shapes that do not fit.
    """

    def __init__(
        self, name: str, include_top, weights, input_tensor, input_shape: Sequence[Any] | None, pooling, classes,
        classifier_activation, size: int = 224, least: int = 32,
    ):  # fmt: skip
        self.name, self.include_top, self.weights = name, include_top, weights
        self.pooling, self.classes, self.activation = pooling, classes, classifier_activation
        if weights not in (None, "imagenet") and not os.path.exists(weights):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), 'imagenet' "
                "(pre-training on ImageNet), or the path to the weights file to be loaded. Received: "
                f"weights={weights}"
            )
        if weights == "imagenet" and include_top and classes != 1000:
            raise ValueError(
                'If using `weights="imagenet"` with `include_top=True`, `classes` should be 1000. '
                f"Received classes={classes}"
            )
        shape = obtain_input_shape(
            input_shape, size, least, settings.image_data_format(), include_top, weights
        )
        if input_tensor is None:
            self.inputs = make_input(shape=shape)
        elif is_keras_tensor(input_tensor):
            self.inputs = input_tensor
        else:
            self.inputs = layers.Input(tensor=input_tensor, shape=shape)
        self.axis = 3 if settings.image_data_format() == "channels_last" else 1

    def top(self, x: Tensor, name: str = "predictions", pool: str = "avg_pool", dropout: float = 0.0):
        """Averages, and a layer of classes; or the pooling that was asked for."""
        if self.include_top:
            x = layers.GlobalAveragePooling2D(name=pool)(x)
            if dropout:
                x = layers.Dropout(dropout, name="top_dropout")(x)
            return layers.Dense(self.classes, activation=self.activation, name=name)(x)
        return self.pooled(x)

    def pooled(self, x: Tensor):
        """The pooling that was asked for in place of the top."""
        if self.pooling == "avg":
            return layers.GlobalAveragePooling2D(name="avg_pool")(x)
        if self.pooling == "max":
            return layers.GlobalMaxPooling2D(name="max_pool")(x)
        return x

    def model(self, x: Tensor):
        """The model, with its weights loaded."""
        sources = get_source_inputs(self.inputs)
        model = Model(sources[0] if len(sources) == 1 else sources, x, name=self.name)
        if self.weights is not None:
            model.load_weights(self._file())
        return model

    def _file(self):
        if self.weights != "imagenet":
            return self.weights
        home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
        folder = os.path.join(home, "models")
        top = "" if self.include_top else "_notop"
        found = [
            os.path.join(folder, file)
            for file in (os.listdir(folder) if os.path.isdir(folder) else ())
            if file.startswith(f"{self.name}_weights") and file.endswith(".h5")
            and ("notop" in file) == bool(top)
        ]  # fmt: skip
        if not found:
            raise ValueError(
                f"The ImageNet weights of {self.name} are not downloaded: put Keras' file "
                f"`{self.name}_weights_tf_dim_ordering_tf_kernels{top}.h5` into {folder}, pass its path "
                "as `weights`, or pass None for random weights."
            )
        return sorted(found)[0]


def obtain_input_shape(
    input_shape: Sequence[Any] | None, default_size, min_size, data_format: str, require_flatten,
    weights: TensorLike | None = None
):  # fmt: skip
    """The shape of images without the batch. Raises ValueError for one that does not fit."""
    last = data_format == "channels_last"
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[-1 if last else 0]
        if channels not in (1, 3):
            warnings.warn(
                "This model usually expects 1 or 3 input channels. However, it was passed an "
                f"input_shape with {channels} input channels.", stacklevel=3,
            )  # fmt: skip
        default = (
            (default_size, default_size, channels)
            if last
            else (channels, default_size, default_size)
        )
    else:
        default = (default_size, default_size, 3) if last else (3, default_size, default_size)
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and tuple(input_shape) != default:
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, `input_shape` should "
                f"be {default}.  Received: input_shape={input_shape}"
            )
        return default
    if input_shape:
        if len(input_shape) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers.")
        sizes = input_shape[:2] if last else input_shape[1:]
        if any(size is not None and size < min_size for size in sizes):
            raise ValueError(
                f"Input size must be at least {min_size}x{min_size}; Received: input_shape={input_shape}"
            )
        return tuple(input_shape)
    if require_flatten:
        return default
    return (None, None, 3) if last else (3, None, None)
