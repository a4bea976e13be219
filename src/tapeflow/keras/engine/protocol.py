"""What Keras 3 asks of a layer besides being called: building from configs, calls without state, stores of weights."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.autodiff.custom_gradient import recompute_grad
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.automatic_config import recorded
from tapeflow.keras.engine.calling import Called, signature_of
from tapeflow.keras.engine.fitting.stateless import values_after
from tapeflow.keras.engine.layer_losses import LayerLosses
from tapeflow.keras.engine.layer_weights import LayerWeights
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.symbolic_calls import symbolic_outputs
from tapeflow.keras.session import set_values, values_of


def _plain(shape: Sequence[Any]):
    """A structure of shapes as lists and tuples, as configs have it."""
    if isinstance(shape, TensorShape):
        return None if shape.rank is None else tuple(shape.as_list())
    if isinstance(shape, dict):
        return {key: _plain(value) for key, value in shape.items()}
    if isinstance(shape, (list, tuple)) and any(
        isinstance(part, (TensorShape, list, tuple, dict)) for part in shape
    ):
        return [_plain(part) for part in shape]
    return shape


def quantization_mode(mode, config: Mapping[str, Any]):
    """The mode that `quantize` is asked for, by its name or by a config.

    Raises ValueError for neither, and for two that differ.
    """
    if config is None:
        if mode is None:
            raise ValueError("You must provide either `mode` or `config` to `quantize`.")
        return mode
    of_config = getattr(config, "mode", mode)
    if mode is not None and mode != of_config:
        raise ValueError(f"Contradictory arguments: mode='{mode}' but config.mode='{of_config}'")
    return of_config


class Protocol(Called, LayerWeights, LayerLosses):
    """Methods of layers that do not depend on what the layer does."""

    # Whether masks of inputs are passed on.
    supports_masking = False

    # Whether it has no weights, and so is built from the start in Keras 3, unless a subclass defines `build`.
    _built_at_init = False

    # Whether a class says itself what its configs hold; of others, they hold the arguments of the constructor.
    _says_config = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "get_config" in cls.__dict__ and "_says_config" not in cls.__dict__:
            cls._says_config = True

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        if not cls._says_config:
            made.__dict__["_made_with"] = recorded(cls, args, kwargs)
        return made

    # What layers have.
    __call__: Any
    build: Any
    built: bool
    compute_output_shape: Any
    name: str
    _input_shape_seen: Any
    # Of a layer whose `build` takes a shape for each input.
    _shapes_by_name: Any = None
    _policy: Any
    _compute_dtype_object: Any
    _autocast: bool
    call: Any
    _own_weights: list[Any]

    @property
    def dtype_policy(self):
        """The policy that says in which dtype the layer computes and keeps its weights."""
        return self._policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        self._set_dtype(value)

    def _set_dtype(self, dtype: DType):
        raise TypeError(f"The dtype of {self.name} cannot be set.")

    @property
    def input_dtype(self):
        """The dtype that inputs are cast to, by name."""
        return self._compute_dtype_object.name

    _path: str | None = None  # in Keras 3: where it was built

    @property
    def path(self):
        """The names of the layers around this one when it was built, and its own, joined by slashes."""
        return self._path or (self.name if self.built else None)

    # Whether models that the layer is part of may be compiled by XLA.
    supports_jit = True

    @property
    def autocast(self):
        """Whether floating inputs are cast to the dtype of the computation."""
        return self._autocast

    @autocast.setter
    def autocast(self, value):
        self.__dict__["_autocast"] = value

    @property
    def call_signature_parameters(self):
        """The names of the arguments of `call`."""
        return list(inspect.signature(self.call).parameters)

    @property
    def quantization_mode(self):
        """None: weights are not quantized."""
        return None

    def quantize(self, mode=None, type_check: bool = True, config=None):
        """Make weights small integers; layers that can do that define it.

        Args:
          mode: "int8"; None for that of the config.
          type_check: whether subclasses of the layer that do not define it are refused.
          config: an `Int8QuantizationConfig`, or None for the default one.

        Raises:
          NotImplementedError: always, for layers that do not have it.
        """
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `quantize` method implemented.")

    @property
    def metrics_variables(self):
        """The variables of the metrics of this layer and the layers in it."""
        metrics: Any = self.metrics
        return [variable for metric in metrics for variable in metric.variables]

    def get_build_config(self):
        """What `build_from_config` makes the weights from: the shape of the inputs; None before that is known."""
        if self._shapes_by_name is not None:
            return {"shapes_dict": {name: _plain(shape) for name, shape in self._shapes_by_name.items()}}
        shape = self._input_shape_seen
        return None if shape is None else {"input_shape": _plain(shape)}

    # Whether the readers of Keras 2 make a layer of this class from its config, without being told of it.
    _known_to_keras_2 = True

    def _saved_model_functions(self) -> dict[str, Any]:
        """The functions that a SavedModel of the layer has: its call, where Keras 2 does not know the class."""
        if not keras_2() or (self._known_to_keras_2 and type(self).__module__.startswith("tapeflow.")):
            return {}
        from tapeflow.keras.engine.files.saved_functions import functions_of_layer

        return functions_of_layer(self, self._added_losses)

    def build_from_config(self, config):
        """Makes the weights, as `get_build_config` described them."""
        if not config or self.built:
            return
        shape = config.get("input_shape")
        if shape is not None:
            self._build_for(shape)
        elif "shapes_dict" in config:
            shapes = {name: tuple(shape) for name, shape in config["shapes_dict"].items()}
            self.__dict__["_shapes_by_name"] = shapes
            self._build_for(next(iter(shapes.values())))

    def _build_for(self, shape: Sequence[Any]):
        self._build_for_shapes(as_shapes(shape))

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors for the outputs of a call with KerasTensors."""
        if not args:
            first = signature_of(self).first
            args, kwargs = (kwargs[first],), {name: value for name, value in kwargs.items() if name != first}
        facts = (False, self._compute_dtype_object, False, self._says_output_shape())
        return symbolic_outputs(self, facts, self, signature_of(self).names, args[0], args[1:], kwargs)

    def symbolic_call(self, *args, **kwargs):
        """The call with KerasTensors, which becomes part of what a model can be made of."""
        return self(*args, **kwargs)

    def rematerialized_call(self, layer_call, *args, **kwargs):
        """A function that computes `layer_call` again for gradients instead of keeping what it computed."""
        return recompute_grad(layer_call)

    def stateless_call(
        self, trainable_variables, non_trainable_variables, *args, return_losses: bool = False, **kwargs
    ):
        """Call the layer with given values of its variables, which stay as they are.

        Args:
          trainable_variables: values of the variables to train.
          non_trainable_variables: values of the others.
          *args, **kwargs: the arguments of the call.
          return_losses: whether the losses of the call are given, too.

        Returns:
          (the outputs, the values of the other variables after the call), and with `return_losses` the losses.

        Raises:
          ValueError: for another number of values.
        """
        for kind, values in (
            ("trainable_variables", trainable_variables), ("non_trainable_variables", non_trainable_variables),
        ):  # fmt: skip
            if len(values) != len(getattr(self, kind)):
                raise ValueError(
                    f"Argument `{kind}` must be a list of tensors corresponding 1:1 to {type(self).__name__}().{kind}. "
                    f"Received list with length {len(values)}, but expected {len(getattr(self, kind))} variables."
                )
        variables = [*self.trainable_variables, *self.non_trainable_variables]
        values = [*trainable_variables, *non_trainable_variables]
        (outputs, losses), after = values_after(
            lambda: (self(*args, **kwargs), self.losses if return_losses else []),
            variables, values, self.non_trainable_variables,
        )  # fmt: skip
        return (outputs, after, losses) if return_losses else (outputs, after)

    def save_own_variables(self, store):
        """Puts the layer's own variables into a store, by number."""
        for number, value in enumerate(values_of(self._own_variables())):
            store[str(number)] = value

    def load_own_variables(self, store):
        """Takes the layer's own variables out of a store. Raises ValueError where they do not fit."""
        variables = self._own_variables()
        if len(store.keys()) != len(variables):
            raise ValueError(
                f"Layer '{self.name}' expected {len(variables)} variables, but received "
                f"{len(store.keys())} variables during loading. Expected: {[v.name for v in variables]}"
            )
        set_values([(variable, np.asarray(store[str(number)])) for number, variable in enumerate(variables)])

    def _own_variables(self):
        """The variables that belong to no layer inside, in the order of files: those to train first."""
        return sorted(self._own_weights, key=lambda variable: not variable.trainable)


boundaries(globals())
