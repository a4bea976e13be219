"""`tf.keras.Sequential`: layers one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._native import Tensor
from tapeflow.checkpoint import following as trackable
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.public import boundary, public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine import calling, masking
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.inputs import make_input
from tapeflow.keras.engine.functional.model import refuse_legacy
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.input_spec import conformed
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.tracking import Node, listed
from tapeflow.keras.layers.core.input_layer import InputLayer
from tapeflow.keras.layers.function_layer import Lambda
from tapeflow.keras.registry import deserialize_in, to_config


@public_methods
class Sequential(Model):
    """A model whose layers each take the one output of the layer before.

    Weights exist from the start when the first layer says its input shape, or is an `Input`; else from the first
    call.

    Args:
      layers: the layers, in order; more can be added by `add`.
      name: the name of the model.
      **kwargs: `trainable` and `dtype`, as those of `Layer`.

    Raises:
      ValueError: for what is not a layer (TypeError under Keras 2), and names that occur twice.

    >>> model = tf.keras.Sequential([tf.keras.Input(shape=(3,)), tf.keras.layers.Dense(2, kernel_initializer="ones")])
    >>> print(model(tf.constant([[1.0, 2.0, 3.0]])).numpy())
    [[6. 6.]]
    >>> print(len(model.weights))
    2
    """

    _masks_itself = True

    def __init__(self, layers=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.__dict__["_stack"] = []
        self._tracked["_stack"] = self._stack
        self.__dict__["_has_input_layer"] = False
        self.__dict__["_input"] = self.__dict__["_output"] = None
        if layers is not None:
            self.__dict__["_adding_many"] = True
            for layer in layers if isinstance(layers, (list, tuple)) else [layers]:
                self.add(layer)
            self.__dict__["_adding_many"] = False
            if self.built:
                self._count_network()

    @property
    def _is_graph_network(self):
        return self._input is not None

    @property
    def layers(self):
        """The layers, without the input layer."""
        return self._stack[1:] if self._has_input_layer else self._stack[:]

    def add(self, layer, rebuild=True):
        """Append a layer.

        Args:
          layer: the layer, or a symbolic input as the first one.
          rebuild: whether the model is made anew, with weights for the layer; if not, by the next call or `build`.

        Raises:
          ValueError: for anything else (TypeError in Keras 2), and for a name that there is already.
        """
        if isinstance(layer, KerasTensor):
            layer = layer.layer
        if not isinstance(layer, Layer):
            if not callable(layer) or isinstance(layer, type):
                hint = f" Call the class: {layer.__name__}(...)." if isinstance(layer, type) else ""
                raise (TypeError if keras_2() else ValueError)(
                    "The added layer must be an instance of class Layer. "
                    f"Received: layer={layer} of type {type(layer)}.{hint}"
                )

            layer = Lambda(layer)
        if any(layer.name == other.name and layer is not other for other in self._stack):
            raise ValueError(
                "All layers added to a Sequential model should have unique names. Name "
                f'"{layer.name}" is already the name of a layer in this model. Update the `name` '
                "argument to pass a unique name."
            )

        refuse_legacy([layer])
        if not self._stack:
            if isinstance(layer, InputLayer):
                self.__dict__["_input"] = self.__dict__["_output"] = layer.output
                self.__dict__["_has_input_layer"] = True
            else:
                shape = getattr(layer, "_batch_input_shape", None)
                inner = next(iter(stack_of(layer)), None) if isinstance(layer, Sequential) else None
                if shape is None and isinstance(inner, InputLayer):
                    shape = inner.batch_shape
                dtype, start = None, getattr(layer, "_inputs", None)
                if shape is None and isinstance(start, KerasTensor):
                    shape, dtype = start.shape.as_list(), start.dtype
                if shape is not None:
                    start = make_input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input")
                    self._stack.append(start.layer)
                    self.__dict__["_input"] = self.__dict__["_output"] = start
                    self.__dict__["_has_input_layer"] = True
        if not (self._stack and layer is self._stack[0]):
            self._stack.append(layer)
        if not rebuild:
            self.__dict__["_is_stale"], self.built = True, False
            return
        if self._is_stale:
            self._rebuild()
        elif self._output is not None and not isinstance(layer, InputLayer):
            with name_scope(self._scope_name()):
                output = layer(self._output)
            if isinstance(output, (list, tuple)):
                self._stack.pop()
                raise ValueError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    "multi-output layers, use the functional API."
                )
            self.__dict__["_output"] = output
        knows_shape = self._input is None and self.built and "_shape_seen" in self.__dict__
        self.built = (self._output is not None or knows_shape) and bool(self.layers)
        if knows_shape:
            self._ends()  # makes the weights of the new layer
        if self.built and not self._adding_many:
            self._count_network()
        if trackable.waiting:
            trackable.look_again()

    _adding_many = False
    _is_stale = False  # whether layers were added or removed without making the model anew

    def _rebuild(self):
        """Makes the output anew, of the layers that there are now, where the shape of the input is known."""
        self.__dict__["_is_stale"] = False
        if self._has_input_layer:
            output = self._input
            with name_scope(self._scope_name()):
                for layer in self.layers:
                    output = layer(output)
            self.__dict__["_output"] = output

    @staticmethod
    def _count_network():
        """Takes a number from the names of functional models, which a Sequential with shapes is inside."""
        settings.unique_name("functional")

    def pop(self, rebuild=True):
        """Remove the last layer.

        Args:
          rebuild: whether the model is made anew; if not, by the next call or `build`.

        Returns:
          The layer.

        Raises:
          TypeError: when there is none.
        """
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        last = self._stack.pop()
        if not self.layers:
            self._stack.clear()
            self.__dict__["_has_input_layer"] = False
            self.__dict__["_input"] = self.__dict__["_output"] = None
        if rebuild:
            self._rebuild()
        else:
            self.__dict__["_is_stale"] = True
        self.built = rebuild and self.built and bool(self.layers)
        return last

    def build(self, input_shape=None):
        """Makes the weights for inputs of this shape."""
        if self._is_stale:
            self._rebuild()
        if self._input is not None or input_shape is None:
            self.built = bool(self.layers)
            return
        if calling.state.depth or self._is_being_built:
            self.built = True
            return
        super().build(input_shape)

    def call(self, inputs, training=None, mask=None):
        if self._input is not None:
            if isinstance(inputs, dict):
                inputs = self._by_name(inputs)
            inputs = conformed(self._input, inputs)
        elif isinstance(inputs, Tensor):
            self._see(inputs.shape)
        for layer in self.layers:
            if mask is not None and calling.signature_of(layer).takes_mask:
                inputs = layer(inputs, mask=mask)
            else:
                inputs = layer(inputs)
            mask = None if mask is None else getattr(inputs, "_keras_mask", None)
        return inputs

    def _by_name(self, inputs):
        name = self._input.layer.name
        if name not in inputs:
            raise ValueError(
                f"Missing data for input {name!r} of model {self.name!r}. It was given a dictionary with the keys "
                f"{list(inputs)}"
            )
        return inputs[name]

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        """The mask of the outputs for these inputs."""
        return masking.of(self.call(inputs, mask=mask))

    def _see(self, shape):
        """Keeps the shape of inputs, with None for sizes that change, for a model that was given none."""
        seen = self.__dict__.get("_shape_seen")
        if seen is None:
            self._count_network()
        if seen is None or seen.rank != shape.rank:
            self.__dict__["_shape_seen"] = shape
        elif seen != shape:
            sizes = [a if a == b else None for a, b in zip(seen.as_list(), shape.as_list())]
            self.__dict__["_shape_seen"] = TensorShape(sizes)

    def _shape_of_layer(self, layer):
        shape = self.__dict__.get("_shape_seen")
        if self._input is not None or shape is None:
            return super()._shape_of_layer(layer)
        for one in self.layers:
            shape = TensorShape(one.compute_output_shape(shape))
            if one is layer:
                break
        return tuple(shape.as_list())

    def _children_of_keras_2(self):
        return self._layers_by_number() | super()._children_of_keras_2()

    def _children_of_keras_3(self):
        network = self.__dict__.setdefault("_network_node", Node(self._children_of_network))
        return {"_functional": network, **super()._children_of_keras_3()}

    def _children_of_network(self):
        """What checkpoints follow from the functional model that a Sequential of Keras 3 has."""
        return {"_operations": self._operations()}

    def _numbered_operations(self):
        return listed(self._stack if self._has_input_layer else [None, *self._stack])

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shape = TensorShape(input_shape)
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def _scope_name(self):
        # In Keras 2 names of variables do not begin with the name of a Sequential: "dense/kernel:0".
        return "" if keras_2() else super()._scope_name()

    @property
    @boundary
    def weights(self):
        """All variables. In Keras 2, raises ValueError before there are any."""
        if keras_2() and not self.built and self.layers and not any(layer.built for layer in self.layers):
            raise ValueError(
                f"Weights for model '{self.name}' have not yet been created. Weights are created when "
                "the model is first called on inputs or `build()` is called with an `input_shape`."
            )
        return super().weights

    def _ends(self):
        """(input, output), where they are known; those of a model that has been called are made now."""
        if not self.layers:
            return None
        if self._input is not None:
            return self._input, self._output
        shape = self.__dict__.get("_shape_seen")
        if shape is None or not self.built:
            return None
        made = self.__dict__.get("_ends_seen")
        if made is None or made[2] != (shape, len(self.layers)):
            start = end = make_input(batch_shape=[None, *shape.as_list()[1:]])
            for layer in self.layers:
                end = layer(end)
            made = self.__dict__["_ends_seen"] = start, end, (shape, len(self.layers))
        return made[:2]

    @property
    def inputs(self):
        """The symbolic inputs, in a list; None while the shape of inputs is unknown."""
        found = self._ends()
        return None if found is None else [found[0]]

    @property
    def outputs(self):
        """The symbolic outputs, in a list; None while the shape of inputs is unknown."""
        found = self._ends()
        return None if found is None else [found[1]]

    @property
    def input(self):
        """The symbolic input."""
        if self._input is None:
            raise AttributeError(f"The model {self.name} has no defined input shape yet.")
        return self._input

    @property
    def output(self):
        """The symbolic output."""
        if self._output is None:
            raise AttributeError(f"The model {self.name} has no defined output shape yet.")
        return self._output

    @property
    def input_shape(self):
        """The shape of the input, None for unknown sizes."""
        return tuple(self.input.shape.as_list())

    @property
    def output_shape(self):
        """The shape of the output, None for unknown sizes."""
        return nest.map_structure(lambda x: tuple(x.shape.as_list()), self.output)

    def get_config(self):
        config = {"name": self.name, "layers": [to_config(layer) for layer in self._stack]}
        shape = self.__dict__.get("_shape_seen")
        if self._input is None and shape is not None:
            config["build_input_shape"] = tuple(shape.as_list())
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """A model from what get_config returned."""

        layers = config["layers"] if isinstance(config, dict) else config
        model = cls(name=config.get("name") if isinstance(config, dict) else None)
        made: dict[Any, tuple[Any, Layer]] = {}
        for given in layers:
            # A layer that stands at several places has the same config, with its name, at each.
            inner = given.get("config") if isinstance(given, dict) else None
            name = inner.get("name") if isinstance(inner, dict) else None
            if isinstance(name, str) and name in made and made[name][0] == given:
                layer = made[name][1]
            else:
                layer = deserialize_in("keras.layers", given, custom_objects)
                made[layer.name] = given, layer
            model.add(layer)
        shape = config.get("build_input_shape") if isinstance(config, dict) else None
        if shape is not None and not model.built:
            model.build(tuple(shape))
        return model


def stack_of(model: Any) -> list[Any]:
    """The layers of a Sequential model as they were added, its `InputLayer` among them."""
    found: list[Any] = model._stack
    return found
