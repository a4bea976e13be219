"""Layers one after another that change data before training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.layers.preprocessing.image_base import ImageLayer
from tapeflow.keras.registry import deserialize_in, to_config


class Pipeline(ImageLayer):
    """Preprocessing layers one after another, as one layer without trained weights.

    Args:
      layers: the layers, in the order in which they are applied.
      name: the name of the layer.
    """

    def __init__(self, layers: Sequence[Any], name: str | None = None):
        super().__init__(name=name)
        self._stages = list(layers)

    @property
    def layers(self):
        """The layers."""
        return list(self._stages)

    def call(self, data: TensorLike, training: bool | Tensor = True, mask: Tensor | None = None):
        for layer in self._stages:
            kwargs = {"training": training} if signature_of(layer).takes_training else {}
            data = layer(data, **kwargs)
        return data

    def compute_output_shape(self, input_shape: Sequence[Any]):
        for layer in self._stages:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def get_config(self):
        return {"layers": [to_config(layer) for layer in self._stages], "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A pipeline from the configs of its layers."""
        return cls([deserialize_in("keras.layers", layer) for layer in config["layers"]], name=config.get("name"))
