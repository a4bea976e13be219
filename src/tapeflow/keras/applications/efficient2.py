"""EfficientNetV2: fused blocks first, smaller expansions (Tan & Le 2021)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan
from tapeflow.keras.applications.efficient import CONV, DENSE

# Blocks: repeats, filters in and out, expansion, stride; whether fused, which is without squeeze and excitation.
_SMALL = ((2, 24, 24, 1, 1, True), (4, 24, 48, 4, 2, True), (4, 48, 64, 4, 2, True), (6, 64, 128, 4, 2, False),
          (9, 128, 160, 6, 1, False), (15, 160, 256, 6, 2, False))  # fmt: skip
_MIDDLE = ((3, 24, 24, 1, 1, True), (5, 24, 48, 4, 2, True), (5, 48, 80, 4, 2, True), (7, 80, 160, 4, 2, False),
           (14, 160, 176, 6, 1, False), (18, 176, 304, 6, 2, False), (5, 304, 512, 6, 1, False))  # fmt: skip
_LARGE = ((4, 32, 32, 1, 1, True), (7, 32, 64, 4, 2, True), (7, 64, 96, 4, 2, True), (10, 96, 192, 4, 2, False),
          (19, 192, 224, 6, 1, False), (25, 224, 384, 6, 2, False), (7, 384, 640, 6, 1, False))  # fmt: skip
_BASE = ((1, 32, 16, 1, 1, True), (2, 16, 32, 4, 2, True), (2, 32, 48, 4, 2, True), (3, 48, 96, 4, 2, False),
         (5, 96, 112, 6, 1, False), (8, 112, 192, 6, 2, False))  # fmt: skip


def _filters(count: int, width: int):
    return max(8, int(count * width + 4) // 8 * 8)


def _conv(x: Tensor, plan, filters: int, kernel, stride, name: str | None, act: bool = True):
    """A convolution named `{name}_conv`, normalized, with the activation."""
    x = layers.Conv2D(filters, kernel, strides=stride, padding="same", use_bias=False, kernel_initializer=CONV,
                      name=f"{name}_conv")(x)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, momentum=0.9, name=f"{name}_bn")(x)
    return layers.Activation("swish", name=f"{name}_activation")(x) if act else x


def _excited(x: Tensor, plan, filters: int, squeezed, name: str | None):
    gate = layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(x)
    gate = layers.Reshape((1, 1, filters) if plan.axis == 3 else (filters, 1, 1), name=f"{name}se_reshape")(gate)
    for size, act, part in ((squeezed, "swish", "reduce"), (filters, "sigmoid", "expand")):
        gate = layers.Conv2D(size, 1, padding="same", activation=act, kernel_initializer=CONV,
                             name=f"{name}se_{part}")(gate)  # fmt: skip
    return layers.Multiply(name=f"{name}se_excite")([x, gate])


def _block(inputs: Tensor, plan, before, after, expansion, stride, fused: bool, drop, name: str):
    x, filters = inputs, before * expansion
    if fused:
        if expansion != 1:
            x = _conv(x, plan, filters, 3, stride, f"{name}expand")
            x = _conv(x, plan, after, 1, 1, f"{name}project", act=False)
        else:
            x = _conv(x, plan, after, 3, stride, f"{name}project")
    else:
        x = _conv(x, plan, filters, 1, 1, f"{name}expand")
        x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False, depthwise_initializer=CONV,
                                   name=f"{name}dwconv2")(x)  # fmt: skip
        x = layers.BatchNormalization(axis=plan.axis, momentum=0.9, name=f"{name}bn")(x)
        x = layers.Activation("swish", name=f"{name}activation")(x)
        x = _excited(x, plan, filters, max(1, int(before * 0.25)), name)
        x = _conv(x, plan, after, 1, 1, f"{name}project", act=False)
    if stride == 1 and before == after:
        if drop:
            x = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        x = layers.Add(name=f"{name}add")([x, inputs])
    return x


def _efficientnet(plan, stages, width, depth, preprocessing):
    x = plan.inputs
    if preprocessing:
        if plan.name.rpartition("-")[2].startswith("b") and x.shape[plan.axis] == 3:
            x = layers.Rescaling(1.0 / 255)(x)
            x = layers.Normalization(axis=plan.axis, mean=[0.485, 0.456, 0.406],
                                     variance=[0.229**2, 0.224**2, 0.225**2])(x)  # fmt: skip
        else:
            x = layers.Rescaling(1.0 / 128.0, offset=-1)(x)
    x = _conv(x, plan, _filters(stages[0][1], width), 3, 2, "stem")
    done, total = 0, sum(stage[0] for stage in stages)
    for i, (repeats, before, after, expansion, stride, fused) in enumerate(stages, 1):
        before, after = _filters(before, width), _filters(after, width)
        for j in range(math.ceil(depth * repeats)):
            x = _block(x, plan, after if j else before, after, expansion, 1 if j else stride, fused,
                       0.2 * done / total, f"block{i}{chr(97 + j)}_")  # fmt: skip
            done += 1
    x = _conv(x, plan, _filters(1280, width), 1, 1, "top")
    if not plan.include_top:
        return plan.model(plan.pooled(x))
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    x = layers.Dropout(0.2, name="top_dropout")(x)
    x = layers.Dense(plan.classes, activation=plan.activation, kernel_initializer=DENSE, name="predictions")(x)
    return plan.model(x)


def _application(kind: str, stages: Sequence[Any], size: int, width: float = 1.0, depth: float = 1.0):
    default_name = f"efficientnetv2-{kind.lower()}"

    def build(
        include_top: bool = True, weights: str = "imagenet", input_tensor=None,
        input_shape: Sequence[Any] | None = None, pooling=None, classes: int = 1000,
        classifier_activation: str = "softmax", include_preprocessing: bool = True, name: str = default_name,
    ):  # fmt: skip
        plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation,
                    size=size)  # fmt: skip
        return _efficientnet(plan, stages, width, depth, include_preprocessing)

    build.__name__ = build.__qualname__ = f"EfficientNetV2{kind}"
    build.__doc__ = f"EfficientNetV2-{kind} for images of {size} x {size} pixels."
    return build


EfficientNetV2B0 = _application("B0", _BASE, 224)
EfficientNetV2B1 = _application("B1", _BASE, 240, depth=1.1)
EfficientNetV2B2 = _application("B2", _BASE, 260, 1.1, 1.2)
EfficientNetV2B3 = _application("B3", _BASE, 300, 1.2, 1.4)
EfficientNetV2S = _application("S", _SMALL, 384)
EfficientNetV2M = _application("M", _MIDDLE, 480)
EfficientNetV2L = _application("L", _LARGE, 480)
