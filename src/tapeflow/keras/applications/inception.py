"""InceptionV3: convolutions of several shapes beside each other (Szegedy et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


class _Inception:
    def __init__(self, plan):
        self.plan = plan

    def conv(self, x, filters: int, rows, columns, padding: str = "same", strides=(1, 1)):
        x = layers.Conv2D(
            filters, (rows, columns), strides=strides, padding=padding, use_bias=False
        )(x)
        x = layers.BatchNormalization(axis=self.plan.axis, scale=False)(x)
        return layers.Activation("relu")(x)

    def chain(self, x: Tensor, *steps):
        for step in steps:
            x = self.conv(x, *step)
        return x

    def pool(self, x: Tensor, filters: int):
        x = layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x)
        return self.conv(x, filters, 1, 1)

    def join(self, parts: Sequence[Any], name: str | None = None):
        return layers.Concatenate(axis=self.plan.axis, name=name)(parts)


def InceptionV3(
    include_top: bool = True, weights: str = "imagenet", input_tensor: TensorLike | None = None,
    input_shape: Sequence[Any] | None = None,
    pooling: str | None = None, classes: int = 1000, classifier_activation: str = "softmax", name: str = "inception_v3",
):  # fmt: skip
    """InceptionV3 (Szegedy et al. 2016)."""
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation, size=299, least=75)  # fmt: skip
    net = _Inception(plan)
    x = net.conv(plan.inputs, 32, 3, 3, "valid", (2, 2))
    x = net.chain(x, (32, 3, 3, "valid"), (64, 3, 3))
    x = layers.MaxPooling2D((3, 3), strides=(2, 2))(x)
    x = net.chain(x, (80, 1, 1, "valid"), (192, 3, 3, "valid"))
    x = layers.MaxPooling2D((3, 3), strides=(2, 2))(x)
    for i, last in enumerate((32, 64, 64)):
        x = net.join([
            net.conv(x, 64, 1, 1),
            net.chain(x, (48, 1, 1), (64, 5, 5)),
            net.chain(x, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
            net.pool(x, last),
        ], f"mixed{i}")  # fmt: skip
    x = net.join([
        net.conv(x, 384, 3, 3, "valid", (2, 2)),
        net.chain(x, (64, 1, 1), (96, 3, 3), (96, 3, 3, "valid", (2, 2))),
        layers.MaxPooling2D((3, 3), strides=(2, 2))(x),
    ], "mixed3")  # fmt: skip
    for i, width in enumerate((128, 160, 160, 192), 4):
        x = net.join([
            net.conv(x, 192, 1, 1),
            net.chain(x, (width, 1, 1), (width, 1, 7), (192, 7, 1)),
            net.chain(x, (width, 1, 1), (width, 7, 1), (width, 1, 7), (width, 7, 1), (192, 1, 7)),
            net.pool(x, 192),
        ], f"mixed{i}")  # fmt: skip
    x = net.join([
        net.chain(x, (192, 1, 1), (320, 3, 3, "valid", (2, 2))),
        net.chain(x, (192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, "valid", (2, 2))),
        layers.MaxPooling2D((3, 3), strides=(2, 2))(x),
    ], "mixed8")  # fmt: skip
    for i in range(2):
        first = net.conv(x, 320, 1, 1)
        middle = net.conv(x, 384, 1, 1)
        middle = net.join([net.conv(middle, 384, 1, 3), net.conv(middle, 384, 3, 1)], f"mixed9_{i}")
        double = net.chain(x, (448, 1, 1), (384, 3, 3))
        double = net.join([net.conv(double, 384, 1, 3), net.conv(double, 384, 3, 1)])
        x = net.join([first, middle, double, net.pool(x, 192)], f"mixed{9 + i}")
    if include_top:
        return plan.model(plan.top(x))
    if pooling == "avg":
        x = layers.GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D()(x)
    return plan.model(x)
