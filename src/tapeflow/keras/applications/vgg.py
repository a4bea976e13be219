"""VGG: stacks of small convolutions (Simonyan & Zisserman 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


def _vgg(plan, depths: Sequence[Any]):
    x = plan.inputs
    for block, (count, filters) in enumerate(zip(depths, (64, 128, 256, 512, 512)), 1):
        for i in range(1, count + 1):
            x = layers.Conv2D(
                filters, 3, activation="relu", padding="same", name=f"block{block}_conv{i}"
            )(x)
        x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if plan.include_top:
        x = layers.Flatten(name="flatten")(x)
        x = layers.Dense(4096, activation="relu", name="fc1")(x)
        x = layers.Dense(4096, activation="relu", name="fc2")(x)
        x = layers.Dense(plan.classes, activation=plan.activation, name="predictions")(x)
    elif plan.pooling == "avg":
        x = layers.GlobalAveragePooling2D()(x)
    elif plan.pooling == "max":
        x = layers.GlobalMaxPooling2D()(x)
    return plan.model(x)


def VGG16(
    include_top: bool = True, weights: str = "imagenet", input_tensor: TensorLike | None = None,
    input_shape: Sequence[Any] | None = None,
    pooling: str | None = None, classes: int = 1000, classifier_activation: str = "softmax", name: str = "vgg16",
):  # fmt: skip
    """VGG of 16 layers with weights."""
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation)  # fmt: skip
    return _vgg(plan, (2, 2, 3, 3, 3))


def VGG19(
    include_top: bool = True, weights: str = "imagenet", input_tensor: TensorLike | None = None,
    input_shape: Sequence[Any] | None = None,
    pooling: str | None = None, classes: int = 1000, classifier_activation: str = "softmax", name: str = "vgg19",
):  # fmt: skip
    """VGG of 19 layers with weights."""
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation)  # fmt: skip
    return _vgg(plan, (2, 2, 4, 4, 4))
