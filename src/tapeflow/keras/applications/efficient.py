"""EfficientNet: depth, width and resolution scaled together (Tan & Le 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan
from tapeflow.keras.applications.mobile import correct_pad

# kernel, repeats, filters out, expansion, stride
_STAGES = ((3, 1, 16, 1, 1), (3, 2, 24, 6, 2), (5, 2, 40, 6, 2), (3, 3, 80, 6, 2), (5, 3, 112, 6, 1),
           (5, 4, 192, 6, 2), (3, 1, 320, 6, 1))  # fmt: skip
CONV = {"class_name": "VarianceScaling",
         "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}  # fmt: skip
DENSE = {"class_name": "VarianceScaling",
          "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}  # fmt: skip


def _filters(count: int, width: int):
    count *= width
    found = max(8, int(count + 4) // 8 * 8)
    return int(found + 8 if found < 0.9 * count else found)


def _norm_act(x: Tensor, plan, name: str, act: str = "activation", norm: str = "bn"):
    x = layers.BatchNormalization(axis=plan.axis, name=name + norm)(x)
    return layers.Activation("swish", name=name + act)(x)


def _block(inputs: Tensor, plan, drop, name: str, filters_in, filters_out, kernel, stride, expansion):
    filters = filters_in * expansion
    x = inputs
    if expansion != 1:
        x = layers.Conv2D(filters, 1, padding="same", use_bias=False, kernel_initializer=CONV,
                          name=name + "expand_conv")(x)  # fmt: skip
        x = _norm_act(x, plan, name + "expand_")
    if stride == 2:
        x = layers.ZeroPadding2D(correct_pad(x, kernel, plan.axis), name=name + "dwconv_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="valid" if stride == 2 else "same",
                               use_bias=False, depthwise_initializer=CONV, name=name + "dwconv")(x)  # fmt: skip
    x = _norm_act(x, plan, name, norm="bn")
    squeezed = max(1, int(filters_in * 0.25))
    gate = layers.GlobalAveragePooling2D(name=name + "se_squeeze")(x)
    shape = (1, 1, filters) if plan.axis == 3 else (filters, 1, 1)
    gate = layers.Reshape(shape, name=name + "se_reshape")(gate)
    gate = layers.Conv2D(squeezed, 1, padding="same", activation="swish", kernel_initializer=CONV,
                         name=name + "se_reduce")(gate)  # fmt: skip
    gate = layers.Conv2D(filters, 1, padding="same", activation="sigmoid", kernel_initializer=CONV,
                         name=name + "se_expand")(gate)  # fmt: skip
    x = layers.Multiply(name=name + "se_excite")([x, gate])
    x = layers.Conv2D(filters_out, 1, padding="same", use_bias=False, kernel_initializer=CONV,
                      name=name + "project_conv")(x)  # fmt: skip
    x = layers.BatchNormalization(axis=plan.axis, name=name + "project_bn")(x)
    if stride == 1 and filters_in == filters_out:
        if drop > 0:
            x = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=name + "drop")(x)
        x = layers.Add(name=name + "add")([x, inputs])
    return x


def _efficientnet(plan, width, depth, dropout, drop_connect=0.2):
    x = layers.Rescaling(1.0 / 255.0)(plan.inputs)
    x = layers.Normalization(axis=plan.axis)(x)
    if plan.weights == "imagenet":
        x = layers.Rescaling([1.0 / math.sqrt(s) for s in (0.229, 0.224, 0.225)])(x)
    x = layers.ZeroPadding2D(correct_pad(x, 3, plan.axis), name="stem_conv_pad")(x)
    x = layers.Conv2D(_filters(32, width), 3, strides=2, padding="valid", use_bias=False,
                      kernel_initializer=CONV, name="stem_conv")(x)  # fmt: skip
    x = _norm_act(x, plan, "stem_")
    done, total = 0, sum(math.ceil(depth * stage[1]) for stage in _STAGES)
    before = _filters(32, width)
    for i, (kernel, repeats, out, expansion, stride) in enumerate(_STAGES, 1):
        out = _filters(out, width)
        for j in range(math.ceil(depth * repeats)):
            x = _block(x, plan, drop_connect * done / total, f"block{i}{chr(97 + j)}_", before, out,
                       kernel, stride if j == 0 else 1, expansion)  # fmt: skip
            before = out
            done += 1
    x = layers.Conv2D(_filters(1280, width), 1, padding="same", use_bias=False,
                      kernel_initializer=CONV, name="top_conv")(x)  # fmt: skip
    x = _norm_act(x, plan, "top_")
    if not plan.include_top:
        return plan.model(plan.pooled(x))
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    if dropout > 0:
        x = layers.Dropout(dropout, name="top_dropout")(x)
    x = layers.Dense(plan.classes, activation=plan.activation, kernel_initializer=DENSE,
                     name="predictions")(x)  # fmt: skip
    return plan.model(x)


def _application(number: int, width: float, depth: float, size: int, dropout: float):
    default_name = f"efficientnetb{number}"

    def build(
        include_top: bool = True, weights: str = "imagenet", input_tensor=None,
        input_shape: Sequence[Any] | None = None, pooling=None, classes: int = 1000,
        classifier_activation: str = "softmax", name: str = default_name,
    ):  # fmt: skip
        plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                    classifier_activation, size=size)  # fmt: skip
        return _efficientnet(plan, width, depth, dropout)

    build.__name__ = build.__qualname__ = f"EfficientNetB{number}"
    build.__doc__ = f"EfficientNetB{number} (Tan & Le 2019); takes images of 0..255 as they are."
    return build


EfficientNetB0 = _application(0, 1.0, 1.0, 224, 0.2)
EfficientNetB1 = _application(1, 1.0, 1.1, 240, 0.2)
EfficientNetB2 = _application(2, 1.1, 1.2, 260, 0.3)
EfficientNetB3 = _application(3, 1.2, 1.4, 300, 0.3)
EfficientNetB4 = _application(4, 1.4, 1.8, 380, 0.4)
EfficientNetB5 = _application(5, 1.6, 2.2, 456, 0.4)
EfficientNetB6 = _application(6, 1.8, 2.6, 528, 0.5)
EfficientNetB7 = _application(7, 2.0, 3.1, 600, 0.5)
