"""The models of before tf.keras.Model: Network and its Sequential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.model import Model


class Network(Model):
    """A model whose layers are named to it by track_layer (or assigned as attributes)."""

    def __init__(self, name=None):
        super().__init__(name=name)
        self.__dict__["_listed"] = []
        self._tracked["_listed"] = self._listed

    def __call__(self, *args, **kwargs):
        outputs = super().__call__(*args, **kwargs)
        waiting = self.__dict__.pop("_restore_after_build", None)
        if waiting:
            for restore in waiting:
                restore()
            outputs = super().__call__(*args, **kwargs)  # again, with the values restored
        return outputs

    def track_layer(self, layer):
        """Adds a layer, and returns it. Raises TypeError for anything else."""
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer"
            )
        if any(layer.name == other.name and layer is not other for other in self._listed):
            raise ValueError(
                f"Attempt to add two Layers with the name '{layer.name}' to the same Network."
            )
        if not any(layer is other for other in self._listed):
            self._listed.append(layer)
        return layer


class Sequential(Network):
    """Layers and functions, one after another."""

    def __init__(self, layers_funcs: Sequence[Any] | None = None, name: str | None = None):
        super().__init__(name=name)
        self.__dict__["_functions"] = []
        for function in layers_funcs or ():
            self.add(function)

    def add(self, layer_func):
        """Appends a layer, or a function of one tensor."""
        if isinstance(layer_func, Layer):
            layer_func = self.track_layer(layer_func)
        self._functions.append(layer_func)

    def call(self, inputs, training=None):
        """All of them in turn."""
        for function in self._functions:
            inputs = function(inputs)
        return inputs
