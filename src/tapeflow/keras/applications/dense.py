"""DenseNet: every block sees all before it (Huang et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan

_EPSILON = 1.001e-5


def _norm(x: Tensor, plan, name: str):
    return layers.BatchNormalization(axis=plan.axis, epsilon=_EPSILON, name=name)(x)


def _grow(x: Tensor, plan, name: str, growth: int = 32):
    y = layers.Activation("relu", name=name + "_0_relu")(_norm(x, plan, name + "_0_bn"))
    y = layers.Conv2D(4 * growth, 1, use_bias=False, name=name + "_1_conv")(y)
    y = layers.Activation("relu", name=name + "_1_relu")(_norm(y, plan, name + "_1_bn"))
    y = layers.Conv2D(growth, 3, padding="same", use_bias=False, name=name + "_2_conv")(y)
    return layers.Concatenate(axis=plan.axis, name=name + "_concat")([x, y])


def _densenet(plan, blocks: Sequence[Any]):
    x = layers.ZeroPadding2D(((3, 3), (3, 3)))(plan.inputs)
    x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
    x = layers.Activation("relu", name="conv1_relu")(_norm(x, plan, "conv1_bn"))
    x = layers.ZeroPadding2D(((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, count in enumerate(blocks, 2):
        for i in range(1, count + 1):
            x = _grow(x, plan, f"conv{stage}_block{i}")
        if stage < 5:
            name = f"pool{stage}"
            x = layers.Activation("relu", name=name + "_relu")(_norm(x, plan, name + "_bn"))
            half = x.shape.as_list()[plan.axis] // 2
            x = layers.Conv2D(half, 1, use_bias=False, name=name + "_conv")(x)
            x = layers.AveragePooling2D(2, strides=2, name=name + "_pool")(x)
    x = layers.Activation("relu", name="relu")(_norm(x, plan, "bn"))
    return plan.model(plan.top(x))


def _application(name: str, blocks: Sequence[int]):
    default_name = name.lower()

    def build(
        include_top: bool = True, weights: str = "imagenet", input_tensor=None,
        input_shape: Sequence[Any] | None = None, pooling=None, classes: int = 1000,
        classifier_activation: str = "softmax", name: str = default_name,
    ):  # fmt: skip
        plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                    classifier_activation)  # fmt: skip
        return _densenet(plan, blocks)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name} (Huang et al. 2017)."
    return build


DenseNet121 = _application("DenseNet121", (6, 12, 24, 16))
DenseNet169 = _application("DenseNet169", (6, 12, 32, 32))
DenseNet201 = _application("DenseNet201", (6, 12, 48, 32))
