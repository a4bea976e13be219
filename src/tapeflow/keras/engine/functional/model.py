"""Models made of symbolic tensors: `Model(inputs, outputs)`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import shape_of
from tapeflow.keras import settings
from tapeflow.keras.engine import masking
from tapeflow.keras.engine.added import AddLoss, AddMetric
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.network import Network
from tapeflow.keras.engine.functional.network_config import network_config
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.input_spec import conformed
from tapeflow.keras.engine.model import Model
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.tracking import listed
from tapeflow.keras.old_names import takes_old_names


class Functional(Model):
    """The computation that leads from symbolic inputs to symbolic outputs, layer call by layer call."""

    _keras_module = "keras.src.models.functional"
    _masks_itself = True
    _is_graph_network = True

    def __init__(
        self, inputs: Sequence[Any] | dict[str, Any] | KerasTensor | None = None, outputs: Any = None,
        name: str | None = None, trainable: bool = True, **kwargs,
    ):
        if name is None and type(self) is Functional:
            name = settings.unique_name("model" if keras_2() else "functional")
        super().__init__(name=name, trainable=trainable, **kwargs)
        state = self.__dict__
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]  # one output is a tensor, also where it came in a list
        state["_inputs"], state["_outputs"] = inputs, outputs
        for leaf in nest.flatten(inputs):
            if not isinstance(leaf, KerasTensor) or leaf.node is None:
                raise ValueError(
                    "Inputs to a Functional model must be symbolic tensors that come from "
                    f"`keras.Input`. Received: {leaf}"
                )
        for leaf in nest.flatten(outputs):
            if not isinstance(leaf, KerasTensor) or leaf.node is None:
                raise ValueError(
                    "Output tensors of a Functional model must be the output of a TensorFlow `Layer` "
                    f"(thus holding past layer metadata). Found: {leaf}"
                )
        state["_sides"] = []
        self._set_network()
        self.built = True

    def _set_network(self):
        """Finds the calls and layers from the inputs to the outputs, and to what was added at the side."""
        outputs = [*nest.flatten(self._outputs), *self._sides]
        self.__dict__["_network"] = Network(nest.flatten(self._inputs), outputs)
        refuse_legacy(self._network.layers)
        self.__dict__["_layers"] = self._network.layers
        self._tracked["_layers"] = self._layers

    def _add_side(self, tensor):
        """Lets a symbolic tensor be computed with every call."""
        self._sides.append(tensor)
        self._set_network()

    @takes_old_names(losses="loss")
    def add_loss(self, loss: KerasTensor, *args, **kwargs):
        """Adds losses: functions, tensors, or symbolic tensors that follow from the inputs of the model."""

        rest = []
        for each in nest.flatten(loss):
            if isinstance(each, KerasTensor):
                self._add_side(AddLoss()(each))
            else:
                rest.append(each)
        if rest:
            super().add_loss(rest, **kwargs)

    def add_metric(self, value, name: str | None = None, aggregation: str | None = None, **kwargs):
        """Adds a metric of a tensor, or of a symbolic tensor that follows from the inputs of the model."""
        if not isinstance(value, KerasTensor):
            return super().add_metric(value, name=name, aggregation=aggregation, **kwargs)

        if name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                "name='mean_activation')`"
            )
        self._add_side(AddMetric(aggregation, name)(value))
        return None

    @property
    def layers(self):
        """The layers, input layers first, each before those that use its outputs; without operations in Keras 3."""
        return [layer for layer in self._layers if layer._is_layer_of_models]

    @property
    def operations(self):
        """The layers and the operations in their order."""
        return self._layers[:]

    @property
    def _nodes_by_depth(self):
        return self._network.nodes_by_depth()

    @property
    def _layers_by_depth(self):
        return self._network.layers_by_depth()

    _operations_by_depth = _layers_by_depth

    def _numbered_operations(self):
        return listed(self._layers)

    @property
    def inputs(self):
        """The symbolic inputs, in a list."""
        return nest.flatten(self._inputs)

    @property
    def outputs(self):
        """The symbolic outputs, in a list."""
        return nest.flatten(self._outputs)

    @property
    def input_names(self):
        """The names of the input layers."""
        return [tensor.layer.name for tensor in nest.flatten(self._inputs)]

    @property
    def output_names(self):
        """The names of the layers of outputs; a second output of a layer gets a number."""
        names: list[str] = []
        for tensor in nest.flatten(self._outputs):
            name, count = tensor.layer.name, 1
            while name in names:
                name = f"{tensor.layer.name}_{count}"
                count += 1
            names.append(name)
        return names

    @property
    def input(self):
        """The symbolic inputs."""
        return self._inputs

    @property
    def output(self):
        """The symbolic outputs."""
        return self._outputs

    @property
    def input_shape(self):
        """The shapes of the inputs."""
        return nest.map_structure(lambda x: tuple(x.shape.as_list()), self._inputs)

    @property
    def output_shape(self):
        """The shapes of the outputs."""
        return nest.map_structure(lambda x: tuple(x.shape.as_list()), self._outputs)

    def build(self, input_shape: Sequence[Any] | None = None):
        """Nothing: the layers were built when they were called on symbolic tensors."""
        self.built = True

    def call(self, inputs, training=None, mask=None):
        expected = nest.flatten(self._inputs)
        if isinstance(inputs, dict):
            by_key = isinstance(self._inputs, dict)
            keys = list(self._inputs) if by_key else [tensor.name for tensor in expected]
            if not by_key and not all(key in inputs for key in keys):
                keys = self.input_names
            missing = [key for key in keys if key not in inputs]
            if missing:
                raise ValueError(
                    f"Missing data for input {missing[0]!r} of model {self.name!r}. It was given a dictionary with "
                    f"the keys {list(inputs)}, and expects the keys {keys}"
                )
            # Data may have columns that the model does not look at.
            chosen = {key: inputs[key] for key in keys}
            given = nest.flatten(chosen) if by_key else list(chosen.values())
        else:
            given = nest.flatten(inputs)
        if len(given) != len(expected):
            raise ValueError(
                f'Layer "{self.name}" expects {len(expected)} input(s), but it received {len(given)} '
                f"input tensors. Inputs received: {inputs}"
            )
        values = {}
        for number, (tensor, value) in enumerate(zip(expected, given)):
            _check_input(self, tensor, value, number)
            values[id(tensor)] = conformed(tensor, value)
        if mask is not None:
            for value, value_mask in zip(given, nest.flatten(mask)):
                if value_mask is not None:
                    masking.set_mask(value, value_mask)

        # In Keras 3 the model's `training` goes before that of a layer's call; files of it name one for each call.
        return self._network.run(values, self._outputs, None if keras_2() else training)

    def compute_mask(self, inputs, mask=None):
        """The masks of the outputs for these inputs, in the structure of the outputs."""
        if inputs is None:
            return None
        if mask is None or all(one is None for one in nest.flatten(mask)):
            if not masking.exist:
                return nest.map_structure(lambda _: None, self._outputs)
        outputs = self.call(inputs, mask=mask)
        return nest.map_structure(lambda x: getattr(x, "_keras_mask", None), outputs)

    def _children_of_keras_2(self):
        return self._layers_by_number() | super()._children_of_keras_2()

    def _children_of_keras_3(self):
        return {"_operations": self._operations(), **super()._children_of_keras_3()}

    def compute_output_shape(self, input_shape):
        inputs = nest.flatten(self._inputs)
        shapes = nest.flatten(as_shapes(input_shape))
        outputs = self._outputs
        if any(TensorShape(shape) != shape_of(x) for shape, x in zip(shapes, inputs, strict=True)):
            given = [
                KerasTensor(shape, x.dtype, sparse=x.sparse, ragged=x.ragged)
                for shape, x in zip(shapes, inputs)
            ]
            outputs = infer(self.call, nest.pack_sequence_as(self._inputs, given), (), {})
        return nest.map_structure(lambda x: x.shape, outputs)

    def get_config(self):
        if not takes_tensors(type(self)):
            return super().get_config()
        if keras_2():
            return network_config(self)
        from tapeflow.keras.saving.network3 import functional_config

        return functional_config(self)


def takes_tensors(kind: type) -> bool:
    """Whether the constructor of a class takes what that of `Functional` does, so that a config can be its layers."""
    signature = inspect.signature(kind)
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [each.name for each in signature.parameters.values() if each.kind is positional]
    kinds = {each.kind for each in signature.parameters.values()}
    return (
        signature == inspect.signature(Functional)
        or names == ["inputs", "outputs", "name"]
        or (not keras_2() and kinds >= {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
    )


def make_functional(subclass: type) -> None:
    """Puts `Functional` between a program's subclass of `Model` and `Model`.

    So does Keras with a class whose instance is made of symbolic tensors: what the class does not define itself, all
    its instances have as functional models do.
    """
    if issubclass(subclass, Functional):
        return
    for base in subclass.__bases__:
        if base is not Model and issubclass(base, Model):
            make_functional(base)
    subclass.__bases__ = tuple(Functional if base is Model else base for base in subclass.__bases__)


def _check_input(model: Functional, tensor: KerasTensor, value: Tensor, number: int):
    want = shape_of(tensor)
    if not hasattr(value, "shape") or want.rank is None:
        return
    have = TensorShape(value.shape)
    if not keras_2() and want.rank:  # a batch may have another size than the declared one
        want = TensorShape([None, *want[1:]])
    if have.rank == want.rank and not want.is_compatible_with(have):
        which = f'of layer "{model.name}"'
        if not keras_2():
            which = f"with name '{model.input_names[number]}' of layer '{model.name}'"
        raise ValueError(
            f"Input {number} {which} is incompatible with the layer: expected "
            f"shape={tuple(want.as_list())}, found shape={tuple(have.as_list())}"
        )


def refuse_legacy(layers: Sequence[Any]):
    """Raises TypeError for layers of tf.layers, which models cannot hold."""
    legacy = [layer for layer in layers if getattr(layer, "_is_legacy_layer", False)]
    if legacy:
        names = "\n  ".join(map(str, legacy))
        raise TypeError(
            "The following are legacy tf.layers.Layers:\n  "
            f"{names}\nTo use keras as a framework (for instance using the Network, Model, or Sequential "
            "classes), please use the tf.keras.layers implementation instead. (Or, if writing custom "
            "layers, subclass from tf.keras.layers rather than tf.layers)"
        )
