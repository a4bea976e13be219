"""Networks of blocks with branches, as tables: what the Inception networks share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.contrib.framework.scoping import arg_scope
from tapeflow.contrib.layers import (
    avg_pool2d,
    batch_norm,
    conv2d,
    dropout,
    fully_connected,
    l2_regularizer,
    max_pool2d,
    variance_scaling_initializer,
)
from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.nn.activation import relu
from tapeflow.v1 import initializers
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["Conv", "Fork", "Pool", "apply", "depths", "inception_arg_scope", "logits", "run", "truncated_normal"]


def truncated_normal(stddev: float) -> Any:
    """An initializer of mean zero."""
    return initializers.truncated_normal_initializer(0.0, stddev)


def _size(name: str) -> list[int]:
    """The size of a kernel that a name ends with: `Conv2d_0b_1x7` is [1, 7]."""
    height, width = re.findall(r"_(\d+)x(\d+)$", name)[0]
    return [int(height), int(width)]


class Conv(NamedTuple):
    """A convolution; its name says how large its filters are, unless `size` does."""

    name: str
    depth: int
    stride: int | None = None
    padding: str | None = None
    stddev: float | None = None
    size: tuple[int, int] | None = None

    def __call__(self, net: Tensor, depth: Callable[[int], int]) -> Tensor:
        options: dict[str, Any] = {"stride": self.stride, "padding": self.padding}
        if self.stddev is not None:
            options["weights_initializer"] = truncated_normal(self.stddev)
        options = {name: value for name, value in options.items() if value is not None}
        return conv2d(net, depth(self.depth), list(self.size or _size(self.name)), scope=self.name, **options)


class Pool(NamedTuple):
    """A pool: of the largest element or, by its name, of the mean."""

    name: str
    stride: int | None = None
    padding: str | None = None

    def __call__(self, net: Tensor, depth: Callable[[int], int]) -> Tensor:
        pool = avg_pool2d if self.name.startswith("Avg") else max_pool2d
        options: dict[str, Any] = {"stride": self.stride, "padding": self.padding}
        options = {name: value for name, value in options.items() if value is not None}
        return pool(net, _size(self.name), scope=self.name, **options)


class Fork(NamedTuple):
    """Layers that all take the same input, side by side."""

    layers: tuple[Conv, ...]

    def __call__(self, net: Tensor, depth: Callable[[int], int]) -> Tensor:
        return concat([layer(net, depth) for layer in self.layers], 3)


Layer = Conv | Pool | Fork
# A layer, or a block: for each branch its layers, one upon the other.
Step = Layer | tuple[str, Sequence[Sequence[Layer]]]


def apply(step: Step, net: Tensor, depth: Callable[[int], int]) -> Tensor:
    """The result of a layer, or of the branches of a block side by side."""
    if isinstance(step, (Conv, Pool, Fork)):
        return step(net, depth)
    name, branches = step
    found = []
    with variable_scope(name):
        for i, layers in enumerate(branches):
            with variable_scope(f"Branch_{i}"):
                branch = net
                for layer in layers:
                    branch = layer(branch, depth)
            found.append(branch)
        return concat(found, 3)


def run(
    net: Tensor, steps: Sequence[Step], outputs: dict[str, Tensor], final_endpoint: str, depth: Callable[[int], int]
) -> Tensor:
    """The steps as far as `final_endpoint`, each result in `outputs` under its name."""
    for step in steps:
        if final_endpoint in outputs:
            break
        name = step[0]
        assert isinstance(name, str)
        net = outputs[name] = apply(step, net, depth)
    return net


def checked(outputs: dict[str, Tensor], final_endpoint: str) -> dict[str, Tensor]:
    """Raises ValueError where the last name asked for is none of the network's."""
    if final_endpoint not in outputs:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return outputs


def depths(depth_multiplier: float, min_depth: int) -> Callable[[int], int]:
    """The number of channels for that of the table. Raises ValueError for a multiplier that is not above zero."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def fitting(net: Tensor, size: Sequence[int]) -> list[int]:
    """A window no larger than the features, where their size is known."""
    height, width = net.shape.as_list()[1:3]
    if height is None or width is None:
        return list(size)
    return [min(height, size[0]), min(width, size[1])]


def logits(
    net: Tensor, outputs: dict[str, Tensor], size: Sequence[int], num_classes: int, keep_prob: float,
    spatial_squeeze: bool, prediction_fn: Callable[..., Tensor],
) -> Tensor:  # fmt: skip
    """The mean of the features, dropout and a layer of logits, which with the predictions join the outputs."""
    with variable_scope("Logits"):
        size = fitting(net, size)
        net = avg_pool2d(net, size, padding="VALID", scope="AvgPool_1a_{}x{}".format(*size))
        net = dropout(net, keep_prob=keep_prob, scope="Dropout_1b")
        outputs["PreLogits"] = net
        found = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
        if spatial_squeeze:
            found = squeeze(found, [1, 2], name="SpatialSqueeze")
    outputs["Logits"] = found
    outputs["Predictions"] = prediction_fn(found, scope="Predictions")
    return found


def inception_arg_scope(
    weight_decay: float, use_batch_norm: bool = True, collection: str = "moving_vars", **normal: Any
) -> dict[Any, Any]:
    """The scope of arguments: batch normalization and ReLU after each convolution, L2 of the weights."""
    params = {
        "decay": 0.9997, "epsilon": 0.001, "updates_collections": "update_ops", **normal,
        "variables_collections": {
            "beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection],
        },
    }  # fmt: skip
    with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)), arg_scope(
        [conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu,
        normalizer_fn=batch_norm if use_batch_norm else None, normalizer_params=params if use_batch_norm else {},
    ) as found:  # fmt: skip
        return found
