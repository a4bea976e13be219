"""`Bidirectional`: a recurrent layer, and a copy of it that runs backwards."""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.public import public
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.engine.files.saving import copy_of
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.weight import scope_of
from tapeflow.keras.layers.rnn.base import standardize_args
from tapeflow.keras.layers.wrappers import Wrapper
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.reorder import reverse

if TYPE_CHECKING:
    from tapeflow.keras.layers.rnn.gru import GRU

_MODES = ("sum", "mul", "ave", "concat", None)


class Bidirectional(Wrapper):
    """A recurrent layer, and a copy of it that runs backwards, their outputs merged.

    With `return_sequences` the outputs of the copy are turned around, so that both belong to the same step.

    Args:
      layer: a recurrent layer, such as `LSTM`; it is copied itself, so that its weights stay as they are.
      merge_mode: "concat", "sum", "mul", "ave" (the mean), or None for both outputs unmerged.
      weights: first weights of both layers, those of the forward one first.
      backward_layer: the layer that runs backwards instead of a copy; with `go_backwards=True` if `layer` has it not.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for layers that are not recurrent, an unknown mode, and two layers whose settings do not fit.

    >>> layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))
    >>> print(layer(tf.zeros([2, 3, 5])).shape)
    (2, 8)
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `tf.keras.layers.Layer` instance. "
                f"Received: {layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(
                "`backward_layer` need to be a `tf.keras.layers.Layer` instance. "
                f"Received: {backward_layer}"
            )
        if merge_mode not in _MODES:
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        _check_rnn(layer)
        super().__init__(layer, **kwargs)
        given = layer.get_config()
        copied = copy_of(layer, copy.deepcopy(given))
        self.__dict__["_copies_given"] = backward_layer is not None
        del self.layer
        self.forward_layer = copied
        if backward_layer is None:
            config = copy.deepcopy(given)
            config["go_backwards"] = not config["go_backwards"]
            backward_layer = copy_of(layer, config)
            backward_layer.__dict__["_name"] = "backward_" + layer.name
        else:
            _check_rnn(backward_layer)
            backward_layer.__dict__["_name"] = "backward_" + backward_layer.name.removeprefix(
                "backward_"
            )
        self.backward_layer = backward_layer
        copied.__dict__["_name"] = "forward_" + layer.name
        _check_pair(self.forward_layer, self.backward_layer)
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec
        self.__dict__["_num_constants"] = 0
        self.__dict__["_plain_layer_config"] = to_config(layer)
        if weights:
            half = len(weights) // 2
            self.forward_layer.__dict__["_initial_weights"] = weights[:half]
            self.backward_layer.__dict__["_initial_weights"] = weights[half:]

    @property
    def layer(self):
        """The layer that runs forwards."""
        return self.__dict__.get("layer") or self.forward_layer

    @layer.setter
    def layer(self, value):
        self.__dict__["layer"] = value

    @layer.deleter
    def layer(self):
        self.__dict__.pop("layer", None)

    def build(self, input_shape):
        input_shape = as_shapes(input_shape)
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                around = contextlib.nullcontext() if keras_2() else scope_of(self)
                with around, name_scope(layer.name):
                    layer.build(input_shape)
                    layer.built = True
                    layer._load_initial_weights()
        self.built = True

    def compute_output_shape(self, input_shape):
        shape = self.forward_layer.compute_output_shape(input_shape)
        states = []
        if self.return_state:
            shape, states = shape[0], shape[1:]
        if self.merge_mode == "concat":
            sizes = TensorShape(shape).as_list()
            shape = TensorShape([*sizes[:-1], sizes[-1] * 2])
        outputs = [shape, shape] if self.merge_mode is None else shape
        if not self.return_state:
            return outputs
        first = outputs if self.merge_mode is None else [outputs]
        return [*first, *states, *states]

    @public
    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        inputs, initial_state, constants = standardize_args(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra = []
        if initial_state is not None:
            if len(initial_state) % 2:
                raise ValueError(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a list "
                    "containing the states of the underlying RNNs. "
                    f"Received: {initial_state}"
                )
            extra += initial_state
        if constants is not None:
            extra += constants
            self.__dict__["_num_constants"] = len(constants)
        if any(isinstance(x, KerasTensor) for x in extra):
            attributes = self.__dict__
            attributes["_input_spec"] = [*(self._input_spec or [None])[:1], *[None for _ in extra]]
            try:
                return super().__call__([inputs, *extra], **kwargs)
            finally:
                attributes["_input_spec"] = attributes["_input_spec"][:1]
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        return super().__call__(inputs, **kwargs)

    def call(
        self, inputs: Tensor, training: bool | Tensor | None = None, mask: Tensor | None = None,
        initial_state: Tensor | None = None, constants=None,
    ):
        if isinstance(inputs, list):
            inputs, initial_state, constants = standardize_args(
                inputs, initial_state, constants, self._num_constants
            )
        kwargs = {"training": training, "mask": mask[0] if isinstance(mask, list) else mask}
        if constants is not None:
            kwargs["constants"] = constants
        kwargs = {
            name: value
            for name, value in kwargs.items()
            if name in signature_of(self.forward_layer).names and value is not None
        }
        forward, backward = {}, {}
        if initial_state is not None:
            half = len(initial_state) // 2
            forward["initial_state"] = initial_state[:half]
            backward["initial_state"] = initial_state[half:]
        y = self.forward_layer(inputs, **kwargs, **forward)
        back = self.backward_layer(inputs, **kwargs, **backward)
        states = []
        if self.return_state:
            states = [*y[1:], *back[1:]]
            y, back = y[0], back[0]
        if self.return_sequences:
            back = reverse(back, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        outputs = self._merged(y, back)
        if not self.return_state:
            return outputs
        found = [*outputs, *states] if self.merge_mode is None else [outputs, *states]
        return found if keras_2() else tuple(found)

    def _merged(self, y: Tensor, back: Tensor):
        if self.merge_mode == "concat":
            return concat([y, back], -1)
        if self.merge_mode == "sum":
            return y + back
        if self.merge_mode == "ave":
            return (y + back) / 2
        if self.merge_mode == "mul":
            return y * back
        return [y, back] if keras_2() else (y, back)

    @property
    def states(self):
        """The states of both layers, where they are stateful."""
        forward, backward = self.forward_layer.states, self.backward_layer.states
        return None if forward is None or backward is None else [*forward, *backward]

    def reset_state(self):
        """Lets both layers begin anew."""
        self.reset_states()

    def reset_states(self):
        """Lets both layers begin anew."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        mask = mask[0] if isinstance(mask, list) else mask
        if self.return_sequences:
            output = [mask, mask] if not self.merge_mode else mask
        else:
            output = [None, None] if not self.merge_mode else None
        if not self.return_state:
            return output
        nones = [None for _ in self.forward_layer.states] * 2
        return output + nones if isinstance(output, list) else [output, *nones]

    def get_config(self):
        config = {**Layer.get_config(self), "layer": self._plain_layer_config}
        config["merge_mode"] = self.merge_mode
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self._copies_given:
            config["backward_layer"] = to_config(self.backward_layer)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """A wrapper around the layers of the config."""
        config = copy.deepcopy(config)
        constants = config.pop("num_constants", 0)
        config["layer"] = deserialize_in("keras.layers", config["layer"], custom_objects)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = deserialize_in("keras.layers", config["backward_layer"], custom_objects)
        layer = cls(**config)
        layer.__dict__["_num_constants"] = constants
        return layer


def _check_rnn(layer: GRU):
    missing = [
        name
        for name in ("go_backwards", "return_sequences", "return_state", "stateful")
        if not hasattr(layer, name)
    ]
    if missing:
        raise ValueError(
            "Bidirectional can only be initialized with an RNN-like layer, which has the attributes "
            f"{missing}. Received: layer={layer}"
        )


def _check_pair(forward: GRU, backward: GRU):
    if forward.go_backwards == backward.go_backwards:
        raise ValueError(
            "Forward layer and backward layer should have different `go_backwards` value. Received: "
            f"forward_layer.go_backwards={forward.go_backwards}, "
            f"backward_layer.go_backwards={backward.go_backwards}"
        )
    for name in ("stateful", "return_sequences", "return_state"):
        if getattr(forward, name) != getattr(backward, name):
            raise ValueError(
                "Forward layer and backward layer are expected to have the same value for attribute "
                f'"{name}", got "{getattr(forward, name)}" for forward layer and '
                f'"{getattr(backward, name)}" for backward layer'
            )
