"""Layers around a layer: what holds another one, and TimeDistributed."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.weight import scope_of
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.reductions import reduce_any

if TYPE_CHECKING:
    from tapeflow.keras.layers.core.dense import Dense
    from tapeflow.keras.layers.rnn.gru import GRU


class Wrapper(Layer):
    """A base of layers that hold another one, as the attribute `layer`, and build it with themselves.

    Args:
      layer: the layer inside.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a `layer` that is not a layer.
    """

    def __init__(self, layer: Dense | GRU, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Layer {layer} supplied to Wrapper isn't a supported layer type.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            with contextlib.nullcontext() if keras_2() else scope_of(self):
                self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self):
        return {**super().get_config(), "layer": to_config(self.layer)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """A wrapper around the layer of the config."""
        config = copy.deepcopy(config)
        return cls(deserialize_in("keras.layers", config.pop("layer"), custom_objects), **config)


class TimeDistributed(Wrapper):
    """Applies a layer to each step of sequences; a mask is passed on, step by step, to layers that take one.

    Input shape: `(batch, steps, ...)`.
    Output shape: `(batch, steps, ...)`, with the layer's output shape for each step.

    Args:
      layer: the layer for one step.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a `layer` that is not a layer, and for inputs of rank below 3.

    >>> layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))
    >>> print(layer(tf.zeros([2, 3, 5])).shape)
    (2, 3, 4)
    """

    def __init__(self, layer: Dense, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `TimeDistributed` layer with a `tf.keras.layers.Layer` instance. "
                f"Received: {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: ShapeLike | None = None):
        shapes = as_shapes(input_shape)
        for shape in nest.flatten(shapes):
            if shape.rank is not None and shape.rank < 3:
                raise ValueError(
                    "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                    f"dimensions, received: {input_shape}"
                )
        self.input_spec = nest.map_structure(
            lambda s: InputSpec(shape=[None, None, *s.as_list()[2:]]), shapes
        )
        super().build(_step_shapes(shapes))

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shapes = as_shapes(input_shape)
        steps = nest.flatten(shapes)[0].as_list()[1]
        inner = self.layer.compute_output_shape(_step_shapes(shapes))
        return nest.map_structure(
            lambda s: TensorShape([s.as_list()[0], steps, *s.as_list()[1:]]), as_shapes(inner)
        )

    def call(self, inputs: TensorLike, training: bool | Tensor | None = None, mask: TensorLike | None = None):
        signature = signature_of(self.layer)
        kwargs = {"training": training} if signature.takes_training else {}
        checks.mask_of_steps(mask, inputs)
        flat = nest.map_structure(_merge_steps, inputs)
        if mask is not None and signature.takes_mask:
            merged = nest.map_structure(lambda m: None if m is None or m.shape.rank == 1 else _merge_steps(m), mask)
            kwargs["mask"] = merged
        outputs = self.layer(flat, **kwargs)
        first = nest.flatten(inputs)[0]
        batch, steps = _sizes(first, 2)
        return nest.map_structure(lambda y: reshape(y, [batch, steps, *_sizes(y)[1:]]), outputs)

    def compute_mask(self, inputs: TensorLike, mask=None):
        if mask is None or not self.layer._computes_mask:
            return mask
        if nest.is_nested(mask):
            return mask
        inner = self.layer.compute_mask(
            nest.map_structure(_merge_steps, inputs), _merge_steps(mask)
        )
        if inner is None:
            return (
                reduce_any(mask, axis=list(range(2, mask.shape.rank)))
                if mask.shape.rank > 2
                else mask
            )
        return reshape(inner, [*_sizes(nest.flatten(inputs)[0], 2), *_sizes(inner)[1:]])


def _step_shapes(shapes: TensorShape):
    return nest.map_structure(lambda s: TensorShape([s.as_list()[0], *s.as_list()[2:]]), shapes)


def _sizes(x: Tensor, count: int | None = None):
    """Sizes of x, as ints where they are known."""
    sizes = x.shape.as_list()[:count]
    return [shape_of(x)[i] if size is None else size for i, size in enumerate(sizes)]


def _merge_steps(x: Tensor):
    return reshape(x, [-1, *_sizes(x)[2:]])


