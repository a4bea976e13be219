"""MobileNetV3: inverted residuals with squeeze and excitation, and hard activations (Howard et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan
from tapeflow.keras.applications.mobile import correct_pad

# Blocks: expansion, filters, whether the kernel is large, stride, whether excited, whether hard.
_SMALL = (
    (1, 16, False, 2, True, False), (72 / 16, 24, False, 2, False, False), (88 / 24, 24, False, 1, False, False),
    (4, 40, True, 2, True, True), (6, 40, True, 1, True, True), (6, 40, True, 1, True, True),
    (3, 48, True, 1, True, True), (3, 48, True, 1, True, True), (6, 96, True, 2, True, True),
    (6, 96, True, 1, True, True), (6, 96, True, 1, True, True),
)  # fmt: skip
_LARGE = (
    (1, 16, False, 1, False, False), (4, 24, False, 2, False, False), (3, 24, False, 1, False, False),
    (3, 40, True, 2, True, False), (3, 40, True, 1, True, False), (3, 40, True, 1, True, False),
    (6, 80, False, 2, False, True), (2.5, 80, False, 1, False, True), (2.3, 80, False, 1, False, True),
    (2.3, 80, False, 1, False, True), (6, 112, False, 1, True, True), (6, 112, False, 1, True, True),
    (6, 160, True, 2, True, True), (6, 160, True, 1, True, True), (6, 160, True, 1, True, True),
)  # fmt: skip


def _depth(count):
    found = max(8, int(count + 4) // 8 * 8)
    return found + 8 if found < 0.9 * count else found


def _act(x: Tensor, hard):
    return layers.Activation("hard_swish")(x) if hard else layers.ReLU()(x)


def _conv(x: Tensor, plan, filters: int, kernel, stride, name: str):
    x = layers.Conv2D(filters, kernel, strides=stride, padding="same", use_bias=False, name=name)(x)
    return _norm(x, plan, name)


def _norm(x: Tensor, plan, name: str):
    return layers.BatchNormalization(axis=plan.axis, epsilon=1e-3, momentum=0.999, name=f"{name}_bn")(x)


def _excited(inputs: Tensor, filters: int, prefix: str):
    name = f"{prefix}squeeze_excite_"
    x = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}avg_pool")(inputs)
    x = layers.Conv2D(_depth(filters * 0.25), 1, padding="same", name=f"{name}conv")(x)
    x = layers.ReLU(name=f"{name}relu")(x)
    x = layers.Conv2D(filters, 1, padding="same", name=f"{name}conv_1")(x)
    x = layers.ReLU(6.0)(x + 3.0) * (1.0 / 6.0)
    return layers.Multiply(name=f"{name}mul")([inputs, x])


def _block(inputs: Tensor, plan, number: int, expansion, filters: int, kernel, stride, excited, hard):
    prefix = f"expanded_conv_{number}_" if number else "expanded_conv_"
    x, before = inputs, inputs.shape[plan.axis]
    wide = _depth(before * expansion)
    if number:
        x = _act(_conv(x, plan, wide, 1, 1, f"{prefix}expand"), hard)
    if stride == 2:
        x = layers.ZeroPadding2D(correct_pad(x, kernel, plan.axis), name=f"{prefix}depthwise_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False,
                               name=f"{prefix}depthwise")(x)  # fmt: skip
    x = _act(_norm(x, plan, f"{prefix}depthwise"), hard)
    if excited:
        x = _excited(x, wide, prefix)
    x = _conv(x, plan, filters, 1, 1, f"{prefix}project")
    return layers.Add(name=f"{prefix}add")([inputs, x]) if stride == 1 and before == filters else x


def _application(kind: str, blocks: Sequence[Any], last: int):
    default_name = f"MobileNetV3{kind}"

    def build(
        input_shape: Sequence[Any] | None = None, alpha: float = 1.0, minimalistic: bool = False,
        include_top: bool = True, weights: str = "imagenet", input_tensor=None, classes: int = 1000, pooling=None,
        dropout_rate: float = 0.2, classifier_activation: str = "softmax", include_preprocessing: bool = True,
        name: str = default_name,
    ):  # fmt: skip
        if input_shape is None and input_tensor is not None:
            input_shape = tuple(input_tensor.shape.as_list()[1:])
        plan = Plan(name, include_top, weights, input_tensor, input_shape or (None, None, 3), pooling, classes,
                    classifier_activation)  # fmt: skip
        x = plan.inputs
        if include_preprocessing:
            x = layers.Rescaling(1.0 / 127.5, offset=-1.0)(x)
        x = _act(_conv(x, plan, 16, 3, 2, "conv"), not minimalistic)
        for number, (expansion, filters, large, stride, excited, hard) in enumerate(blocks):
            x = _block(x, plan, number, expansion, _depth(filters * alpha), 5 if large and not minimalistic else 3,
                       stride, excited and not minimalistic, hard and not minimalistic)  # fmt: skip
        x = _act(_conv(x, plan, _depth(x.shape[plan.axis] * 6), 1, 1, "conv_1"), not minimalistic)
        if not include_top:
            return plan.model(plan.pooled(x))
        x = layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = layers.Conv2D(_depth(last * alpha) if alpha > 1 else last, 1, padding="same", name="conv_2")(x)
        x = _act(x, not minimalistic)
        if dropout_rate > 0:
            x = layers.Dropout(dropout_rate)(x)
        x = layers.Conv2D(classes, 1, padding="same", name="logits")(x)
        x = layers.Activation(classifier_activation, name="predictions")(layers.Flatten()(x))
        return plan.model(x)

    build.__name__ = build.__qualname__ = default_name
    build.__doc__ = f"""The {kind.lower()} MobileNetV3.

        Args:
          alpha: by how much the numbers of filters are multiplied.
          minimalistic: whether to do without excitation, hard activations and kernels of 5 pixels.
        """
    return build


MobileNetV3Small = _application("Small", _SMALL, 1024)
MobileNetV3Large = _application("Large", _LARGE, 1280)
