"""MobileNet and MobileNetV2: convolutions by channel (Howard et al. 2017, Sandler et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


def correct_pad(inputs, kernel_size, axis: AxisLike):
    """The padding before a strided convolution, so that "valid" does as "same"."""
    first = 2 if axis == 1 else 1
    sizes = inputs.shape.as_list()[first : first + 2]
    odd = (1, 1) if sizes[0] is None else (1 - sizes[0] % 2, 1 - sizes[1] % 2)
    half = (kernel_size // 2, kernel_size // 2)
    return ((half[0] - odd[0], half[0]), (half[1] - odd[1], half[1]))


def _separable(x: Tensor, plan, filters: int, alpha: float, multiplier, stride, number: int):
    if stride != (1, 1):
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = layers.DepthwiseConv2D(
        (3, 3), padding="same" if stride == (1, 1) else "valid", depth_multiplier=multiplier,
        strides=stride, use_bias=False, name=f"conv_dw_{number}",
    )(x)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, name=f"conv_dw_{number}_bn")(x)
    x = layers.ReLU(6.0, name=f"conv_dw_{number}_relu")(x)
    x = layers.Conv2D(int(filters * alpha), (1, 1), padding="same", use_bias=False, strides=(1, 1),
                      name=f"conv_pw_{number}")(x)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, name=f"conv_pw_{number}_bn")(x)
    return layers.ReLU(6.0, name=f"conv_pw_{number}_relu")(x)


def MobileNet(
    input_shape: Sequence[Any] | None = None, alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 1e-3,
    include_top: bool = True, weights: str = "imagenet", input_tensor: TensorLike | None = None,
    pooling: str | None = None, classes: int = 1000,
    classifier_activation: str = "softmax", name: str | None = None,
):  # fmt: skip
    """MobileNet; `alpha` is how many filters there are of those of the paper."""
    size = (input_shape or (224, 224, 3))[0] or 224
    name = name or f"mobilenet_{alpha:.2f}_{size}"
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation)  # fmt: skip
    x = layers.Conv2D(int(32 * alpha), (3, 3), padding="same", use_bias=False, strides=(2, 2),
                      name="conv1")(plan.inputs)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, name="conv1_bn")(x)
    x = layers.ReLU(6.0, name="conv1_relu")(x)
    widths = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
    for number, filters in enumerate(widths, 1):
        stride = (2, 2) if number in (2, 4, 6, 12) else (1, 1)
        x = _separable(x, plan, filters, alpha, depth_multiplier, stride, number)
    if include_top:
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Dropout(dropout, name="dropout")(x)
        x = layers.Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = layers.Reshape((classes,), name="reshape_2")(x)
        x = layers.Activation(classifier_activation, name="predictions")(x)
    elif pooling == "avg":
        x = layers.GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D()(x)
    return plan.model(x)


def _divisible(value, divisor: int = 8):
    found = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * value else found


def _inverted(x: Tensor, plan, expansion, stride, alpha: float, filters: int, number: int):
    """Wider, by channel, and narrow again (an inverted residual)."""
    channels = x.shape.as_list()[plan.axis]
    narrow = _divisible(int(filters * alpha))
    prefix = f"block_{number}_" if number else "expanded_conv_"
    inputs = x

    def norm(x: Tensor, name: str):
        return layers.BatchNormalization(
            axis=plan.axis, epsilon=1e-3, momentum=0.999, name=prefix + name
        )(x)

    if number:
        x = layers.Conv2D(expansion * channels, 1, padding="same", use_bias=False, activation=None,
                          name=prefix + "expand")(x)  # fmt: skip
        x = layers.ReLU(6.0, name=prefix + "expand_relu")(norm(x, "expand_BN"))
    if stride == 2:
        x = layers.ZeroPadding2D(correct_pad(x, 3, plan.axis), name=prefix + "pad")(x)
    x = layers.DepthwiseConv2D(3, strides=stride, activation=None, use_bias=False,
                               padding="same" if stride == 1 else "valid",
                               name=prefix + "depthwise")(x)  # fmt: skip
    x = layers.ReLU(6.0, name=prefix + "depthwise_relu")(norm(x, "depthwise_BN"))
    x = layers.Conv2D(
        narrow, 1, padding="same", use_bias=False, activation=None, name=prefix + "project"
    )(x)
    x = norm(x, "project_BN")
    if channels == narrow and stride == 1:
        return layers.Add(name=prefix + "add")([inputs, x])
    return x


_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
           (6, 320, 1, 1))  # fmt: skip


def MobileNetV2(
    input_shape: Sequence[Any] | None = None, alpha: float = 1.0, include_top: bool = True, weights: str = "imagenet",
    input_tensor: TensorLike | None = None, pooling: str | None = None, classes: int = 1000,
    classifier_activation: str = "softmax",
    name: str | None = None,
):  # fmt: skip
    """MobileNetV2; `alpha` is how many filters there are of those of the paper."""
    size = (input_shape or (224, 224, 3))[0] or 224
    name = name or f"mobilenetv2_{alpha:.2f}_{size}"
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation)  # fmt: skip
    x = layers.Conv2D(_divisible(32 * alpha), 3, strides=(2, 2), padding="same", use_bias=False,
                      name="Conv1")(plan.inputs)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, epsilon=1e-3, momentum=0.999, name="bn_Conv1")(x)
    x = layers.ReLU(6.0, name="Conv1_relu")(x)
    number = 0
    for expansion, filters, count, stride in _STAGES:
        for i in range(count):
            x = _inverted(x, plan, expansion, stride if i == 0 else 1, alpha, filters, number)
            number += 1
    last = _divisible(1280 * alpha) if alpha > 1.0 else 1280
    x = layers.Conv2D(last, 1, use_bias=False, name="Conv_1")(x)
    x = layers.BatchNormalization(axis=plan.axis, epsilon=1e-3, momentum=0.999, name="Conv_1_bn")(x)
    x = layers.ReLU(6.0, name="out_relu")(x)
    if include_top:
        x = layers.GlobalAveragePooling2D()(x)
        x = layers.Dense(classes, activation=classifier_activation, name="predictions")(x)
    elif pooling == "avg":
        x = layers.GlobalAveragePooling2D()(x)
    elif pooling == "max":
        x = layers.GlobalMaxPooling2D()(x)
    return plan.model(x)
