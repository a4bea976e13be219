"""A SavedModel as a layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow import saved_model
from tapeflow.core.deserialization import deserializing, refuse_unsafe
from tapeflow.keras.engine.base_layer import Layer


class TFSMLayer(Layer):
    """Runs an endpoint of the SavedModel in a folder, for inference.

    Args:
      filepath: the folder.
      call_endpoint: the name of a signature, or of a function of the saved object.
      call_training_endpoint: the one to use while training, where that is another.
      trainable: whether its variables count as trainable.
      name: the name of the layer.
      dtype: of the layer; the endpoint keeps its own.

    Raises:
      ValueError: for an endpoint that the model does not have.
    """

    def __init__(
        self,
        filepath,
        call_endpoint="serve",
        call_training_endpoint=None,
        trainable=True,
        name=None,
        dtype=None,
    ):
        refuse_unsafe(f"the SavedModel {str(filepath)!r}")
        super().__init__(trainable=trainable, name=name, dtype=dtype, autocast=False)
        self.filepath, self.call_endpoint = str(filepath), call_endpoint
        self.call_training_endpoint = call_training_endpoint
        attributes = self.__dict__
        attributes["_model"] = saved_model.load(self.filepath)
        attributes["_run"] = self._endpoint(call_endpoint)
        attributes["_run_training"] = (
            self._run if call_training_endpoint is None else self._endpoint(call_training_endpoint)
        )
        for variable in getattr(self._model, "variables", ()):
            self._own_weights.append(variable)
        self.built = True

    def _endpoint(self, name):
        found = getattr(self._model, name, None)
        signatures = getattr(self._model, "signatures", {})
        if found is None and name in signatures:
            found = signatures[name]
        if found is None:
            raise ValueError(
                f"The endpoint '{name}' is neither an attribute of the reloaded SavedModel, nor an entry in "
                f"its `signatures`: {sorted(signatures)}."
            )
        return found

    def call(self, inputs, training=False, **kwargs):
        return (self._run_training if training else self._run)(inputs, **kwargs)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, safe_mode=None):
        """The layer of a config; refused in safe mode, for the config names a program in other files."""
        with deserializing(safe_mode is not False):
            return cls(**config)

    def get_config(self):
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "filepath": self.filepath,
            "call_endpoint": self.call_endpoint,
            "call_training_endpoint": self.call_training_endpoint,
        }
