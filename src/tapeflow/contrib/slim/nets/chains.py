"""Networks that are one chain of layers: convolutions, pools, and fully connected layers as convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.contrib.framework.scoping import arg_scope
from tapeflow.contrib.layers import conv2d, dropout, fully_connected, l2_regularizer, max_pool2d
from tapeflow.contrib.layers import repeat as repeated
from tapeflow.contrib.layers.named_outputs import convert_collection_to_dict
from tapeflow.core.annotations import Tensor
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.nn.activation import relu
from tapeflow.v1 import initializers
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["Convolution", "Pool", "network", "plain_arg_scope"]


class Convolution(NamedTuple):
    """A convolution of square filters; `times` of them, one upon the other, if that is given."""

    name: str
    depth: int
    size: int
    stride: int = 1
    padding: str | None = None
    times: int | None = None

    def __call__(self, net: Tensor) -> Tensor:
        size = [self.size, self.size]
        if self.times is not None:
            return repeated(net, self.times, conv2d, self.depth, size, scope=self.name)
        options: dict[str, Any] = {} if self.padding is None else {"padding": self.padding}
        return conv2d(net, self.depth, size, self.stride, scope=self.name, **options)


class Pool(NamedTuple):
    """A pool over squares that takes the largest element, 2 elements apart."""

    name: str
    size: int = 2

    def __call__(self, net: Tensor) -> Tensor:
        return max_pool2d(net, [self.size, self.size], 2, scope=self.name)


def plain_arg_scope(weight_decay: float, bias: float, pool_padding: str | None = None) -> dict[Any, Any]:
    """The scope of arguments of these networks: ReLU, L2 of the weights, and what the biases start from."""
    with arg_scope(
        [conv2d, fully_connected],
        activation_fn=relu,
        weights_regularizer=l2_regularizer(weight_decay),
        biases_initializer=initializers.constant_initializer(bias),
    ), arg_scope([conv2d], padding="SAME") as found:  # fmt: skip
        if pool_padding is None:
            return found
        with arg_scope([max_pool2d], padding=pool_padding) as found:
            return found


def network(
    name: str, title: str, image_size: int, layers: Sequence[Convolution | Pool], fc6: Convolution, fc7_depth: int,
    head: dict[str, Any] | None = None, last: dict[str, Any] | None = None,
) -> Callable[..., tuple[Tensor, dict[str, Tensor]]]:  # fmt: skip
    """The function that builds a network: the layers, then `fc6`, `fc7` and `fc8`, with dropout before the last two.

    `head` has arguments of the last three convolutions, `last` of `fc8`.
    """

    def build(
        inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True, scope: Any = name,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        with variable_scope(scope, name, [inputs]) as found:
            collection = found.original_name_scope + "_end_points"
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[collection]):
                net = inputs
                for layer in layers:
                    net = layer(net)
                with arg_scope([conv2d], **(head or {})):
                    net = fc6(net)
                    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
                    net = conv2d(net, fc7_depth, [1, 1], scope="fc7")
                    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
                    net = conv2d(
                        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **(last or {})
                    )
            outputs = convert_collection_to_dict(collection)
            if spatial_squeeze:
                net = squeeze(net, [1, 2], name="fc8/squeezed")
                outputs[found.name + "/fc8"] = net
            return net, outputs

    build.__name__ = build.__qualname__ = name
    build.default_image_size = image_size  # type: ignore[attr-defined]
    build.__doc__ = f"""{title}: (logits, outputs by name). Its `default_image_size` is {image_size}.

    The logits are [batch, classes], or [batch, height, width, classes] without `spatial_squeeze`.

    Args:
      inputs: images, [batch, height, width, channels].
      num_classes: the number of classes.
      is_training: whether dropout acts.
      dropout_keep_prob: the share that dropout keeps.
      spatial_squeeze: whether the logits lose their two axes of size one.
      scope: the variable scope.
    """
    return build
