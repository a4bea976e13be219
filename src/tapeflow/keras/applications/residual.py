"""ResNet and ResNetV2: sums of blocks and what they take (He et al. 2015, 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


def _norm(x: Tensor, plan, name: str):
    return layers.BatchNormalization(axis=plan.axis, epsilon=1.001e-5, name=name)(x)


def _relu(x: Tensor, name: str):
    return layers.Activation("relu", name=name)(x)


def _block1(x, plan, filters, kernel=3, stride=1, shortcut: bool = True, name=None):
    if shortcut:
        side = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(x)
        side = _norm(side, plan, name + "_0_bn")
    else:
        side = x
    x = layers.Conv2D(filters, 1, strides=stride, name=name + "_1_conv")(x)
    x = _relu(_norm(x, plan, name + "_1_bn"), name + "_1_relu")
    x = layers.Conv2D(filters, kernel, padding="SAME", name=name + "_2_conv")(x)
    x = _relu(_norm(x, plan, name + "_2_bn"), name + "_2_relu")
    x = layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    x = _norm(x, plan, name + "_3_bn")
    return _relu(layers.Add(name=name + "_add")([side, x]), name + "_out")


def _stack1(x: Tensor, plan, filters, blocks, stride, name: str):
    x = _block1(x, plan, filters, stride=stride, name=name + "_block1")
    for i in range(2, blocks + 1):
        x = _block1(x, plan, filters, shortcut=False, name=f"{name}_block{i}")
    return x


def _block2(x, plan, filters, kernel=3, stride=1, shortcut: bool = False, name=None):
    before = _relu(_norm(x, plan, name + "_preact_bn"), name + "_preact_relu")
    if shortcut:
        side = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(before)
    else:
        side = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, strides=1, use_bias=False, name=name + "_1_conv")(before)
    x = _relu(_norm(x, plan, name + "_1_bn"), name + "_1_relu")
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name=name + "_2_pad")(x)
    x = layers.Conv2D(filters, kernel, strides=stride, use_bias=False, name=name + "_2_conv")(x)
    x = _relu(_norm(x, plan, name + "_2_bn"), name + "_2_relu")
    x = layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    return layers.Add(name=name + "_out")([side, x])


def _stack2(x: Tensor, plan, filters, blocks, stride, name: str):
    x = _block2(x, plan, filters, shortcut=True, name=name + "_block1")
    for i in range(2, blocks):
        x = _block2(x, plan, filters, name=f"{name}_block{i}")
    return _block2(x, plan, filters, stride=stride, name=f"{name}_block{blocks}")


def _resnet(plan, depths: Sequence[Any], second):
    x = layers.ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(plan.inputs)
    x = layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not second:
        x = _relu(_norm(x, plan, "conv1_bn"), "conv1_relu")
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    stack = _stack2 if second else _stack1
    strides = (2, 2, 2, 1) if second else (1, 2, 2, 2)
    for i, (filters, blocks, stride) in enumerate(zip((64, 128, 256, 512), depths, strides), 2):
        x = stack(x, plan, filters, blocks, stride, f"conv{i}")
    if second:
        x = _relu(_norm(x, plan, "post_bn"), "post_relu")
    return plan.model(plan.top(x))


def _application(name: str, depths: Sequence[int], second: bool):
    default_name = name.lower()

    def build(
        include_top: bool = True, weights: str = "imagenet", input_tensor=None,
        input_shape: Sequence[Any] | None = None, pooling=None, classes: int = 1000,
        classifier_activation: str = "softmax", name: str = default_name,
    ):  # fmt: skip
        plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                    classifier_activation)  # fmt: skip
        return _resnet(plan, depths, second)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name} (He et al.)."
    return build


ResNet50 = _application("ResNet50", (3, 4, 6, 3), False)
ResNet101 = _application("ResNet101", (3, 4, 23, 3), False)
ResNet152 = _application("ResNet152", (3, 8, 36, 3), False)
ResNet50V2 = _application("ResNet50V2", (3, 4, 6, 3), True)
ResNet101V2 = _application("ResNet101V2", (3, 4, 23, 3), True)
ResNet152V2 = _application("ResNet152V2", (3, 8, 36, 3), True)
