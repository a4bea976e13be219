"""`tf.keras.layers.Layer`: weights, and a function of tensors that uses them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow._native import EagerTensor
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.deserialization import deserializing
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tracking.module import SetByInit
from tapeflow.keras import (
    dtype_policy,
    regularizers,
    settings,
)
from tapeflow.keras.engine import calling, masking, rematerialization
from tapeflow.keras.engine.automatic_config import automatic
from tapeflow.keras.engine.functional.connections import Connections
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.input_spec import InputSpec, assert_input_compatibility
from tapeflow.keras.engine.protocol import Protocol
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.symbolic_calls import symbolic_outputs
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.engine.weight import scope_of
from tapeflow.keras.registry import snake_name
from tapeflow.keras.unknown_arguments import explained, unknown_argument
from tapeflow.ops.array.construction import zeros

if TYPE_CHECKING:
    from tapeflow.keras.layers.core.dense import Dense
    from tapeflow.keras.layers.embeddings import Embedding

_ARGUMENTS = {
    "input_dim",
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "autocast",
    "implementation",
}


@public_methods
class Layer(Connections, Protocol, Tracked):
    """A function of tensors with weights.

    Subclasses define `call(inputs, ...)`, and `build(input_shape)` where weights depend on shapes. `call` may take
    `training`, whether the model is being trained, and `mask`, which steps of the inputs count; both are passed on to
    the layers that it calls.

    Args:
      trainable: whether the weights made by it count as trainable.
      name: the layer's name; made from the class's name and a number when None.
      dtype: of the computation and of the weights, as a dtype or a `DTypePolicy`; None for the global policy.
      dynamic: accepted for compatibility; every layer may run Python eagerly.
      **kwargs: `input_shape`, `batch_input_shape`, `input_dim` and `batch_size` for the first layer of a model,
        `weights` to begin with, `activity_regularizer` for outputs, and `autocast`, whether inputs are cast to
        `dtype`.

    Raises:
      ValueError: for other arguments (TypeError under Keras 2).

    >>> class Scaled(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(name="factor", shape=(input_shape[-1],), initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> layer = Scaled()
    >>> print(layer(tf.constant([[1.0, 2.0]])).numpy())
    [[1. 2.]]
    >>> print([weight.shape for weight in layer.trainable_weights])
    [TensorShape([2])]
    """

    # The module by which configs of Keras 3 name the classes derived from this one, and this one itself.
    _keras_module: ClassVar[str | None] = "keras.layers"
    _keras_module_itself = "keras"
    # A class sets this where `call` takes one tensor, does not depend on `training`, adds no losses
    # and fails by itself on input that its spec forbids: its calls then skip all bookkeeping.
    _plain_call = False
    _checks_inputs = True
    _is_layer = True
    _says_config = False
    _is_layer_of_models = True  # whether the models that it is part of have it among their `layers`
    # Whether the class has a compute_mask of its own, and whether its call leaves masks on the outputs.
    _computes_mask = False
    _masks_itself = False

    _only_in_configs: ClassVar[tuple[str, ...]] = ()  # what Keras 2 writes of the layer, and its constructor lacks

    _fast = SetByInit(RuntimeError)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "call" in cls.__dict__ and "_plain_call" not in cls.__dict__:
            cls._plain_call = False
        if "__call__" in cls.__dict__:
            cls._plain_call = False
        if "compute_mask" in cls.__dict__:
            cls._computes_mask = True
        if "build" in cls.__dict__ and not cls.__module__.startswith("tapeflow."):
            cls.build = _in_scope(cls.__dict__["build"])

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = None, dynamic: bool = False, **kwargs
    ):
        for argument in kwargs:
            if argument not in _ARGUMENTS:
                raise unknown_argument(type(self), argument, kwargs[argument])
        if not isinstance(trainable, bool) and not keras_2():
            raise ValueError(
                f"Expected `trainable` to be a boolean. Received: trainable={trainable} (of type {type(trainable)})"
            )
        self._start_tracking()
        attributes = self.__dict__
        attributes["_trainable"] = bool(trainable)
        attributes["_name"] = self._make_name(name)
        attributes["_fast"] = False
        attributes["built"] = self._built_at_init and type(self).build is Layer.build and not keras_2()
        attributes["_losses"] = []
        attributes["_updates"] = []
        attributes["_loss_functions"] = []
        attributes["_own_metrics"] = []
        attributes["_nodes"] = []
        attributes["_outbound_nodes"] = []
        attributes["_input_spec"] = None
        attributes["_input_shape_seen"] = None
        attributes["_autocast"] = kwargs.get("autocast", True)
        attributes["_initial_weights"] = kwargs.get("weights")
        attributes["supports_masking"] = self._computes_mask
        attributes["stateful"] = False
        attributes["_dynamic"] = dynamic
        attributes["_activity_regularizer"] = regularizers.get(kwargs.get("activity_regularizer"))
        scope = rematerialization.innermost()
        if scope is not None:
            attributes["_remat_scope"] = scope
        self._set_dtype(dtype)
        self._set_batch_input_shape(kwargs)

    def _make_name(self, name: str | None):
        if name is None:
            return settings.unique_name(snake_name(type(self)))
        if not isinstance(name, str):
            raise TypeError(f"A layer's name must be a string, got {name!r}.")
        return name

    def _set_dtype(self, dtype):
        policy = dtype_policy.get(dtype).of_path(self._path or self.name)
        attributes = self.__dict__
        attributes["_dtype_given"] = dtype is not None
        attributes["_policy"] = policy
        attributes["_compute_dtype_object"] = settings.default_dtype(policy.compute_dtype)
        attributes["_variable_dtype_object"] = settings.default_dtype(policy.variable_dtype)

    def _set_batch_input_shape(self, kwargs: dict[str, Any]):
        if "batch_input_shape" in kwargs:
            shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        elif kwargs.get("input_dim") is not None:
            shape = (kwargs.get("batch_size"), kwargs["input_dim"])
        else:
            return
        self.__dict__["_batch_input_shape"] = shape

    # What subclasses define

    def build(self, input_shape: Sequence[Any]):
        """Make the weights; called before the first call. Subclasses define it.

        Args:
          input_shape: the shape of the inputs, or a structure of shapes for several.
        """
        self.built = True

    def call(self, inputs, *args, **kwargs):
        """Compute the outputs. Subclasses define it.

        Args:
          inputs: a tensor, or a structure of tensors.
          *args, **kwargs: further arguments, as `training` and `mask`.

        Returns:
          The outputs; of this class the inputs as they are under Keras 2.

        Raises:
          NotImplementedError: for a layer that does not define it.
        """
        if not keras_2():
            raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")
        return inputs

    def compute_output_shape(self, input_shape):
        """The shape of the outputs for a shape of inputs."""

        shapes = as_shapes(input_shape)
        if not self.built:
            with name_scope(self._scope_name()):
                self._build_for_shapes(shapes)
        inputs = nest.map_structure(lambda s: KerasTensor.unnamed(s, self._compute_dtype_object), shapes)
        outputs = infer(self._call_plainly, inputs, (), {})
        return nest.map_structure(lambda x: x.shape, outputs)

    def _says_output_shape(self):
        """Whether symbolic outputs have the shapes of `compute_output_shape`: where a program defines it."""
        return not getattr(type(self).compute_output_shape, "__module__", "").startswith("tapeflow.")

    def compute_output_signature(self, input_signature):
        """TensorSpecs of the outputs for TensorSpecs of inputs."""
        shapes = nest.map_structure(lambda spec: spec.shape, input_signature)
        outputs = as_shapes(self.compute_output_shape(shapes))
        return nest.map_structure(
            lambda shape: TensorSpec(shape, self._compute_dtype_object), outputs
        )

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        """Compute the mask of the outputs.

        Args:
          inputs: the inputs of the call.
          mask: their mask, or None.

        Returns:
          The inputs' mask, or None.

        Raises:
          TypeError: under Keras 2, for a mask where masking is not supported.
        """
        if keras_2() and not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask

    def get_config(self):
        """The constructor's arguments.

        Raises NotImplementedError in Keras 3 for a class that does not define it, where a config cannot hold them.
        """
        config = {"name": self.name, "trainable": self._trainable}
        if not (self._says_config or type(self).__init__ is Layer.__init__ or keras_2()):
            made_with, takes_name = automatic(self)
            config = {**({"name": self.name} if takes_name else {}), **made_with, "trainable": self._trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = dtype_policy.serialize(self._policy)
        if self._activity_regularizer is not None and not keras_2():
            config["activity_regularizer"] = regularizers.serialize(self._activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A layer from the constructor's arguments."""
        config = {name: value for name, value in config.items() if name not in cls._only_in_configs}
        with deserializing():
            try:
                return cls(**config)
            except TypeError as error:
                raise explained(error, cls, config) from error

    def __repr__(self):
        if keras_2():
            return super().__repr__()
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    # Calls

    def __call__(self, *args, **kwargs):
        if self._fast and len(args) == 1 and not kwargs:
            inputs = args[0]
            if (
                type(inputs) is EagerTensor
                and inputs.dtype is self._compute_dtype_object
                and not (masking.exist and hasattr(inputs, "_keras_mask"))
            ):
                try:
                    return self.call(inputs)
                except Exception as error:
                    assert_input_compatibility(self._input_spec, inputs, self.name)
                    calling.note(error, self)
                    raise
        return self._call_as_keras(args, kwargs)

    def _after_call(self):
        """Called at the end of every call that was not fast."""
        if not self._fast and type(self)._plain_call:
            self._fast = self._call_is_fast()

    def _scope_name(self):
        return self._name

    def _symbolic_outputs(self, inputs, args, kwargs):
        """KerasTensors for the outputs of a symbolic call."""
        names = calling.signature_of(self).names
        unbuilt = any(not layer.built for layer in self._sublayers())
        facts = (self._dynamic, self._compute_dtype_object, unbuilt, self._says_output_shape())
        return symbolic_outputs(self, facts, self._call_plainly, names, inputs, args, kwargs)

    def _call_plainly(self, *args, **kwargs):
        return self._call_as_keras(args, kwargs)

    # Description

    @property
    def name(self):
        """The layer's name."""
        return self._name

    @property
    def trainable(self):
        """Whether the weights count as trainable; setting it sets all layers in this one too."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool):
        for layer in self._all_layers():
            layer._set_trainable(bool(value))

    @property
    def dtype(self):
        """The dtype of the weights, by name."""
        return self.variable_dtype

    @property
    def compute_dtype(self):
        """The dtype of the computation, by name."""
        return self._compute_dtype_object.name

    @property
    def variable_dtype(self):
        """The dtype of the weights, by name."""
        return self._variable_dtype_object.name

    @property
    def dynamic(self):
        """Whether this layer, or one in it, was made with dynamic=True."""
        return any(layer._dynamic for layer in self._all_layers())

    @property
    def activity_regularizer(self):
        """The penalty on outputs."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer
        self._fast = False

    @property
    def input_spec(self):
        """What the layer asks of its inputs."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any):
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {value}")
        self.__dict__["_input_spec"] = value

    @property
    def name_scope(self):
        """A new context of the scope that the layer's weights and operations are named in."""
        return name_scope(self._scope_name())

    @property
    def submodules(self):
        """All layers inside this one."""
        return tuple(self._all_layers()[1:])


class Unbuilt:
    """A weight that a layer has once it is built: until then, reading it raises AttributeError."""

    def __set_name__(self, owner: type, name: str):
        self._name = name

    def __get__(self, layer: Dense | Embedding, owner: type | None = None):
        if layer is None:
            return self
        raise AttributeError(
            f"You must build the layer {layer.name!r} before accessing `{self._name}`."
        )


def _in_scope(build: Callable[..., Any]):
    """A program's `build`; in Keras 3 weights are named by the layer, and the layer is built, whoever calls it."""

    @functools.wraps(build)
    def build_in_scope(self, *args, **kwargs):
        if keras_2():
            return build(self, *args, **kwargs)
        with scope_of(self):
            build(self, *args, **kwargs)
        self.built = True
        return None

    return build_in_scope


def _sample(shape, dtype: DTypeLike):
    return zeros([1 if size is None else size for size in shape.as_list()], dtype)
