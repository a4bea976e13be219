"""`keras.Operation` and `keras.Function`: computations without weights, as steps of functional models or alone."""

from __future__ import annotations

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.network import Network
from tapeflow.keras.engine.functional.symbolic import KerasTensor, Node, any_symbolic
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.layers.core.input_layer import InputLayer


class _OfLayers(type(Layer)):  # type: ignore[misc]
    """The class of `Operation`, of which all layers count as instances."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (cls is Operation and isinstance(instance, Layer))

    def __subclasscheck__(cls, subclass):
        return type.__subclasscheck__(cls, subclass) or (cls is Operation and issubclass(subclass, Layer))


@public_methods
class Operation(Layer, metaclass=_OfLayers):
    """A function of tensors that symbolic tensors can be given to. Subclasses define `call`.

    Layers are instances too.

    Args:
      name: by default that of the class, numbered.

    Raises:
      ValueError: for a name that is not text or has a slash.
    """

    _keras_module = "keras"

    def __init__(self, name: str | None = None):
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(
                "Argument `name` must be a string and cannot contain character `/`. "
                f"Received: name={name} (of type {type(name)})"
            )
        super().__init__(name=name, autocast=False)
        self.built = True

    def call(self, *args, **kwargs):
        """The function."""
        raise NotImplementedError(f"{type(self).__name__} does not define `call`.")

    def compute_output_spec(self, *args, **kwargs):
        """Symbolic tensors for the outputs of a call with symbolic tensors."""
        return infer(self.call, args[0], args[1:], kwargs)

    def symbolic_call(self, *args, **kwargs):
        """The call with symbolic tensors, which becomes part of what a model can be made of."""
        outputs = self.compute_output_spec(*args, **kwargs)
        self._nodes.append(Node(self, args[0], args[1:], kwargs, outputs))
        return outputs

    def __call__(self, *args, **kwargs):
        return self.symbolic_call(*args, **kwargs) if any_symbolic(args, kwargs) else self.call(*args, **kwargs)

    def __repr__(self):
        return f"<Operation name={self.name}>"

    def get_config(self):
        return {"name": self.name}


@public_methods
class Function(Operation):
    """The computation that leads from symbolic inputs to symbolic outputs, as a function of tensors.

    Args:
      inputs: a symbolic tensor, or a structure of them.
      outputs: symbolic tensors that follow from them, in any structure.
      name: the name of the operation.

    Raises:
      ValueError: where there are no inputs or no outputs, and where outputs do not follow from the inputs.
    """

    def __init__(self, inputs: Tensor, outputs, name: str | None = None):
        super().__init__(name=name)
        for what, given in (("inputs", inputs), ("outputs", outputs)):
            if not nest.flatten(given):
                raise ValueError(f"`{what}` argument cannot be empty. Received:\ninputs={inputs}\noutputs={outputs}")
        for tensor in nest.flatten(inputs):
            if tensor.node is None:
                _start(tensor)
        self.__dict__["_ends"] = inputs, outputs
        self.__dict__["_network"] = Network(nest.flatten(inputs), nest.flatten(outputs))

    @property
    def inputs(self):
        """The symbolic inputs, in a list."""
        return nest.flatten(self._ends[0])

    @property
    def outputs(self):
        """The symbolic outputs, in a list."""
        return nest.flatten(self._ends[1])

    @property
    def operations(self):
        """The layers and other operations between the inputs and the outputs, in the order of the computation."""
        return list(self._network.layers)

    def call(self, inputs):
        """The outputs for other inputs. Raises ValueError for another structure, or shapes that do not fit."""
        expected, outputs = self._ends
        try:
            nest.assert_same_structure(inputs, expected)
        except (TypeError, ValueError):
            raise ValueError(
                f"Function was called with an invalid input structure. Expected input structure: {expected}\n"
                f"Received input structure: {inputs}"
            ) from None
        values = {}
        for tensor, value in zip(self.inputs, nest.flatten(inputs)):
            if not TensorShape(tensor.shape).is_compatible_with(value.shape):
                raise ValueError(
                    f"{type(self).__name__} was passed incompatible inputs. For input '{tensor.name}', expected shape "
                    f"{tensor.shape}, but received instead a tensor with shape {value.shape}."
                )
            values[id(tensor)] = value
        return self._network.run(values, outputs)

    def compute_output_shape(self, input_shape):
        """The shapes of the outputs for shapes of the inputs."""
        shapes = nest.flatten(as_shapes(input_shape))
        inputs = [KerasTensor.unnamed(shape, x.dtype) for shape, x in zip(shapes, self.inputs)]
        outputs = self.compute_output_spec(nest.pack_sequence_as(self._ends[0], inputs))
        return nest.map_structure(lambda x: x.shape, outputs)


def _start(tensor: Tensor):
    """Makes a symbolic tensor that comes from no call one where data enters."""

    InputLayer(input_tensor=tensor)
