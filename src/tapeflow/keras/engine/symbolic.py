"""Symbolic tensors: what the functional API passes between layers to describe a model."""

from __future__ import annotations

from tapeflow.core import dtypes, nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings


class KerasTensor:
    """A tensor that is not computed yet: its shape, its dtype and the call it comes from."""

    def __init__(self, shape, dtype, name=None):
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.name = name
        self.node = None  # the Node that made it
        self.index = 0  # among the outputs of that node

    @property
    def layer(self):
        """The layer that the tensor comes from."""
        return self.node.layer

    def __repr__(self):
        made = f" (created by layer '{self.layer.name}')" if self.node is not None else ""
        return f"<KerasTensor: shape={tuple(self.shape.as_list())} dtype={self.dtype.name}{made}>"

    def __bool__(self):
        raise TypeError("A symbolic Keras tensor has no value that could be tested for truth.")

    def __iter__(self):
        raise TypeError("Cannot iterate over a symbolic Keras tensor.")

    def __array__(self, *args, **kwargs):
        raise TypeError(
            "Cannot convert a symbolic Keras input/output to a numpy array. Wrap the function in a "
            "Keras layer."
        )


class Node:
    """One symbolic call of a layer."""

    def __init__(self, layer, inputs, args, kwargs, outputs):
        self.layer = layer
        self.inputs = inputs
        self.args = args
        self.kwargs = kwargs
        self.outputs = outputs
        for index, output in enumerate(nest.flatten(outputs)):
            output.node, output.index = self, index

    def parents(self):
        """The symbolic tensors that the call reads."""
        leaves = nest.flatten((self.inputs, self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, KerasTensor)]


def call_symbolically(layer, inputs, args, kwargs):
    """The symbolic outputs of layer(inputs, *args, **kwargs); makes the layer's weights."""
    from tapeflow.core.context import name_scope
    from tapeflow.keras.engine import calling

    shapes = nest.map_structure(
        lambda x: x.shape if hasattr(x, "shape") else TensorShape([]), inputs
    )
    calling.assert_input_compatibility(layer._input_spec, inputs, layer.name)
    if not layer.built:
        with name_scope(layer._scope_name()):
            calling.build_from_inputs(layer, inputs)
    calling.assert_input_compatibility(layer._input_spec, inputs, layer.name)
    outputs = layer._symbolic_outputs(inputs, shapes, args, kwargs)
    node = Node(layer, inputs, args, kwargs, outputs)
    layer._nodes.append(node)
    return outputs


def make_input(shape=None, batch_size=None, name=None, dtype=None, batch_shape=None):
    """`keras.Input`: where data enters a functional model."""
    from tapeflow.keras.layers.core import InputLayer

    if shape is None and batch_shape is None:
        raise ValueError("Please provide to Input a `shape` or a `batch_shape` argument.")
    if batch_shape is None:
        shape = TensorShape(shape)
        batch_shape = None if shape.rank is None else [batch_size, *shape.as_list()]
    layer = InputLayer(batch_input_shape=batch_shape, dtype=dtype or settings.floatx(), name=name)
    return layer.output
