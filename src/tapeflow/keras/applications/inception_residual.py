"""InceptionResNetV2: what convolutions of several shapes find is added to what came in (Szegedy et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.keras import layers
from tapeflow.keras.applications.building import Plan


class CustomScaleLayer(layers.Layer):
    """The first of two inputs, and a multiple of the second.

    Args:
      scale: what the second is multiplied by.
      **kwargs: those of `Layer`.
    """

    _keras_module = "keras.src.applications.inception_resnet_v2"

    def __init__(self, scale: float, **kwargs: Any):
        super().__init__(**kwargs)
        self.scale = scale

    def get_config(self) -> dict[str, Any]:
        """The arguments of the layer."""
        return {**super().get_config(), "scale": self.scale}

    def call(self, inputs: Sequence[Any]) -> Any:
        return inputs[0] + inputs[1] * self.scale


class _Network:
    def __init__(self, plan: Plan):
        self.axis = plan.axis

    def conv(
        self, x: TensorLike, filters: int, size: Any, padding: str = "same", strides: int = 1, name: str | None = None,
    ):
        """A convolution, normalized and cut at zero."""

        def part(suffix: str) -> str | None:
            return name and name + suffix

        x = layers.Conv2D(filters, size, strides=strides, padding=padding, use_bias=False, name=name)(x)
        x = layers.BatchNormalization(axis=self.axis, scale=False, name=part("_bn"))(x)
        return layers.Activation("relu", name=part("_ac"))(x)

    def chain(self, x: TensorLike, *steps: tuple[Any, ...]) -> Any:
        """Convolutions one after another, each given by its arguments."""
        for step in steps:
            x = self.conv(x, *step)
        return x

    def join(self, parts: list[Any], name: str) -> Any:
        """The channels of all parts."""
        return layers.Concatenate(axis=self.axis, name=name)(parts)

    def residual(self, x: Any, branches: list[list[tuple[Any, ...]]], scale: float, name: str, last: bool = False):
        """What branches of convolutions find in x, scaled and added to it; cut at zero, but for the last block."""
        mixed = self.join([self.chain(x, *steps) for steps in branches], f"{name}_mixed")
        up = layers.Conv2D(x.shape[self.axis], 1, padding="same", name=f"{name}_conv")(mixed)
        x = CustomScaleLayer(scale)([x, up])
        return x if last else layers.Activation("relu", name=f"{name}_ac")(x)


def InceptionResNetV2(
    include_top: bool = True, weights: str | None = "imagenet", input_tensor: Any = None,
    input_shape: Sequence[Any] | None = None, pooling: str | None = None, classes: int = 1000,
    classifier_activation: Any = "softmax", name: str = "inception_resnet_v2",
):  # fmt: skip
    """InceptionResNetV2 (Szegedy et al. 2017)."""
    plan = Plan(name, include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation, size=299, least=75)  # fmt: skip
    net = _Network(plan)
    x = net.chain(plan.inputs, (32, 3, "valid", 2), (32, 3, "valid"), (64, 3))
    x = layers.MaxPooling2D(3, strides=(2, 2))(x)
    x = net.chain(x, (80, 1, "valid"), (192, 3, "valid"))
    x = layers.MaxPooling2D(3, strides=(2, 2))(x)
    parts = [net.chain(x, (96, 1)), net.chain(x, (48, 1), (64, 5)), net.chain(x, (64, 1), (96, 3), (96, 3))]
    pooled = layers.AveragePooling2D(3, strides=(1, 1), padding="same")(x)
    x = net.join([*parts, net.conv(pooled, 64, 1)], "mixed_5b")
    for i in range(1, 11):
        branches: list[list[tuple[Any, ...]]] = [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]]
        x = net.residual(x, branches, 0.17, f"block35_{i}")
    x = net.join([
        net.conv(x, 384, 3, "valid", 2),
        net.chain(x, (256, 1), (256, 3), (384, 3, "valid", 2)),
        layers.MaxPooling2D(3, strides=(2, 2), padding="valid")(x),
    ], "mixed_6a")  # fmt: skip
    for i in range(1, 21):
        branches = [[(192, 1)], [(128, 1), (160, (1, 7)), (192, (7, 1))]]
        x = net.residual(x, branches, 0.1, f"block17_{i}")
    x = net.join([
        net.chain(x, (256, 1), (384, 3, "valid", 2)),
        net.chain(x, (256, 1), (288, 3, "valid", 2)),
        net.chain(x, (256, 1), (288, 3), (320, 3, "valid", 2)),
        layers.MaxPooling2D(3, strides=(2, 2), padding="valid")(x),
    ], "mixed_7a")  # fmt: skip
    for i in range(1, 11):
        branches = [[(192, 1)], [(192, 1), (224, (1, 3)), (256, (3, 1))]]
        x = net.residual(x, branches, 1.0 if i == 10 else 0.2, f"block8_{i}", last=i == 10)
    return plan.model(plan.top(net.conv(x, 1536, 1, name="conv_7b")))
