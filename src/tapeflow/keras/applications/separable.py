"""Xception: separable convolutions with shortcuts (Chollet 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


def _conv(x: Tensor, plan, filters: int, name: str):
    x = layers.SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
    return layers.BatchNormalization(axis=plan.axis, name=name + "_bn")(x)


def _act(x: Tensor, name: str):
    return layers.Activation("relu", name=name)(x)


def _shortcut(x: Tensor, plan, filters: int):
    x = layers.Conv2D(filters, (1, 1), strides=(2, 2), padding="same", use_bias=False)(x)
    return layers.BatchNormalization(axis=plan.axis)(x)


def Xception(
    include_top: bool = True, weights: str = "imagenet", input_tensor: TensorLike | None = None,
    input_shape: Sequence[Any] | None = None,
    pooling: str | None = None, classes: int = 1000, classifier_activation: str = "softmax", name: str = "xception",
):  # fmt: skip
    """Xception (Chollet 2017)."""
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation, size=299, least=71)  # fmt: skip
    x = layers.Conv2D(32, (3, 3), strides=(2, 2), use_bias=False, name="block1_conv1")(plan.inputs)
    x = layers.BatchNormalization(axis=plan.axis, name="block1_conv1_bn")(x)
    x = _act(x, "block1_conv1_act")
    x = layers.Conv2D(64, (3, 3), use_bias=False, name="block1_conv2")(x)
    x = layers.BatchNormalization(axis=plan.axis, name="block1_conv2_bn")(x)
    x = _act(x, "block1_conv2_act")
    for block, filters in ((2, 128), (3, 256), (4, 728)):
        side = _shortcut(x, plan, filters)
        if block > 2:
            x = _act(x, f"block{block}_sepconv1_act")
        x = _conv(x, plan, filters, f"block{block}_sepconv1")
        x = _act(x, f"block{block}_sepconv2_act")
        x = _conv(x, plan, filters, f"block{block}_sepconv2")
        x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")(
            x
        )
        x = layers.Add()([x, side])
    for block in range(5, 13):
        side = x
        for i in (1, 2, 3):
            x = _act(x, f"block{block}_sepconv{i}_act")
            x = _conv(x, plan, 728, f"block{block}_sepconv{i}")
        x = layers.Add()([x, side])
    side = _shortcut(x, plan, 1024)
    for i, filters in ((1, 728), (2, 1024)):
        x = _act(x, f"block13_sepconv{i}_act")
        x = _conv(x, plan, filters, f"block13_sepconv{i}")
    x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name="block13_pool")(x)
    x = layers.Add()([x, side])
    for i, filters in ((1, 1536), (2, 2048)):
        x = _conv(x, plan, filters, f"block14_sepconv{i}")
        x = _act(x, f"block14_sepconv{i}_act")
    if include_top:
        return plan.model(plan.top(x))
    if pooling == "avg":
        x = layers.GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D()(x)
    return plan.model(x)
