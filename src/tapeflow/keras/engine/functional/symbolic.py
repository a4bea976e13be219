"""Symbolic tensors: what the functional API passes between layers to describe a model."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.public import boundaries, boundary
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.dtype_names import named_by_python
from tapeflow.keras.engine.static import shown_dtype, shown_shape
from tapeflow.ops.array.layout import reshape, squeeze


class _NoSuchAttribute(AttributeError, TypeError):
    """Raised for what only computed tensors have: functions of tensors then get their stand-in."""


# Programs see the class of which it is one.
_NoSuchAttribute.__name__, _NoSuchAttribute.__module__ = "AttributeError", "builtins"


class KerasHistory(NamedTuple):
    """Where a symbolic tensor comes from."""

    operation: Any
    node_index: int
    tensor_index: int

    @property
    def layer(self):
        """The layer that was called, by the name that Keras 2 has for it."""
        return self.operation


# What Keras says of numbers and arrays wanted of a symbolic tensor.
_NO_VALUE = (
    "A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any actual numerical value. "
)


def _next_name():
    return settings.unique_name("keras_tensor")


def _name(tensor: KerasTensor | None):
    """Names a symbolic tensor that has no name yet, in Keras 3."""
    if tensor is not None and not (tensor.name or keras_2()):
        tensor.name = _next_name()


class KerasTensor:
    """A tensor that is not computed yet: its shape, its dtype and the call it comes from.

    Operators, and public functions called with one, become layers of the model. `keras.Input` makes one.

    Args:
      shape: its shape, with None for unknown sizes.
      dtype: its dtype.
      sparse: whether it stands for a `SparseTensor`.
      ragged: whether it stands for a `RaggedTensor`.
      record_history: kept as in Keras 3.
      name: its name.
      **kwargs: `ragged_rank` and `row_splits_dtype` of a ragged tensor.

    Raises:
      ValueError: for a tensor that is sparse and ragged.
    """

    __array_priority__ = 1e6
    __array_ufunc__ = None  # so that arrays leave operators to this class

    def __init__(
        self, shape: Any, dtype: DTypeLike = "float32", sparse: bool = False, ragged: bool = False,
        record_history: bool = True, name: str | None = None, **kwargs,
    ):
        self._ragged_rank = kwargs.pop("ragged_rank", 1 if ragged else None)
        self._row_splits_dtype = dtypes.as_dtype(kwargs.pop("row_splits_dtype", "int64"))
        if kwargs:
            raise TypeError(f"KerasTensor got unexpected keyword arguments: {sorted(kwargs)}")
        if sparse and ragged:
            raise ValueError("KerasTensor cannot have `sparse=True` and `ragged=True` at once.")
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(named_by_python(dtype))
        self.name = _next_name() if name is None and not keras_2() else name
        self.sparse, self.ragged = bool(sparse), bool(ragged)
        self.record_history = record_history
        self.node = None  # the Node that made it
        self.index = 0  # among the outputs of that node
        self._keras_mask = None

    @classmethod
    def unnamed(cls, shape: ShapeLike, dtype: DTypeLike, **kwargs):
        """A symbolic tensor that in Keras 3 gets its name from being the output of a call, if it becomes one."""
        kwargs.setdefault("name", "")
        return cls(shape, dtype, **kwargs)

    @property
    def shape(self):
        """The shape: a tuple in Keras 3, a TensorShape in Keras 2."""
        return shown_shape(self._shape)

    @property
    def dtype(self):
        """The dtype: its name in Keras 3, a DType in Keras 2."""
        return shown_dtype(self._dtype)

    @property
    def layer(self):
        """The layer that the tensor comes from."""
        return self.node.layer

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._shape.rank

    @property
    def ragged_rank(self):
        """The number of ragged dimensions; None for other tensors."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self):
        """The dtype of the row splits of a ragged tensor."""
        return self._row_splits_dtype

    @property
    def _keras_history(self):
        node = self.node
        if node is None:
            raise AttributeError("The tensor does not come from a layer.")
        return KerasHistory(node.layer, node.layer.inbound_nodes.index(node), self.index)

    def _as_graph_element(self):
        """The tensor of the current graph that sessions fetch and feed for this one."""
        from tapeflow.keras.engine.functional.graph_tensors import graph_tensor

        return graph_tensor(self)

    def get_shape(self):
        """The shape."""
        return self.shape

    def set_shape(self, shape: Sequence[Any]):
        """Narrows the shape. Raises ValueError for one that contradicts it."""
        self._shape = self._shape.merge_with(shape)

    def reshape(self, newshape):
        """A layer's output with the same elements in another shape."""
        return reshape(self, newshape)

    def squeeze(self, axis: AxisLike | None = None):
        """A layer's output without dimensions of size 1."""
        return squeeze(self, axis)

    def __repr__(self):
        if not keras_2():
            return (
                f"<KerasTensor shape={self._shape}, dtype={self._dtype.name}, sparse={self.sparse}, "
                f"ragged={self.ragged}, name={self.name}>"
            )
        made = f" (created by layer '{self.layer.name}')" if self.node is not None else ""
        return f"<KerasTensor: shape={self._shape} dtype={self._dtype.name}{made}>"

    @boundary
    def __getattr__(self, name: str):
        raise _NoSuchAttribute(f"{type(self).__name__!r} object has no attribute {name!r}")

    @boundary
    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    @boundary
    def __int__(self):
        raise ValueError(_NO_VALUE + "You cannot convert it to an int.")

    @boundary
    def __float__(self):
        raise ValueError(_NO_VALUE + "You cannot convert it to a float.")

    @boundary
    def __iter__(self):
        if not keras_2():
            raise NotImplementedError("Iterating over a symbolic KerasTensor is not supported.")
        sizes = self._shape.as_list() if self._shape.rank else []
        if not sizes or sizes[0] is None:
            raise TypeError("Cannot iterate over a symbolic Keras tensor with unknown first size.")
        return (self[i] for i in range(sizes[0]))

    @boundary
    def __len__(self):
        if not keras_2():
            raise TypeError("object of type 'KerasTensor' has no len()")
        raise TypeError(
            "Keras symbolic inputs/outputs do not implement `__len__`. You may be trying to pass Keras "
            "symbolic inputs/outputs to a TF API that does not register dispatching, preventing Keras "
            "from automatically converting the API call to a lambda layer in the Functional Model."
        )

    @boundary
    def __array__(self, dtype: DTypeLike | None = None, copy=None):
        if not keras_2():
            raise ValueError(_NO_VALUE + "You cannot convert it to a NumPy array.")
        raise TypeError(
            "Cannot convert a symbolic Keras input/output to a numpy array. Wrap the function in a "
            "Keras layer."
        )

    def __getitem__(self, key: TensorLike):
        return _operation(operator.getitem, self, key)


def _operation(function: Callable[..., Any], *args):
    from tapeflow.keras.engine.functional.op_layer import operate

    return operate(function, *args)


def _add_operators():
    """Operators that make layers, also with the symbolic tensor on the right."""
    binary = "add sub mul truediv floordiv mod pow matmul lt le gt ge ne and_ or_ xor"  # of the operator module
    for name in binary.split():
        function = getattr(operator, name)
        plain = name.strip("_")

        def forward(self, other: Any, function: Callable[..., Any] = function):
            return _operation(function, self, other)

        def backward(self, other: TensorLike, function: Callable[..., Any] = function):
            return _operation(function, other, self)

        setattr(KerasTensor, f"__{plain}__", forward)
        if plain not in ("lt", "le", "gt", "ge", "ne"):
            setattr(KerasTensor, f"__r{plain}__", backward)
    for name in ("neg", "abs", "invert"):
        function = getattr(operator, name)
        setattr(KerasTensor, f"__{name}__", lambda self, f=function: _operation(f, self))


_add_operators()


class Node:
    """One symbolic call of a layer."""

    @boundary
    def __init__(self, layer, inputs, args, kwargs, outputs):
        self.layer = layer
        self.inputs = inputs
        self.args = args
        self.kwargs = kwargs
        self.outputs = outputs
        for index, output in enumerate(nest.flatten(outputs)):
            if isinstance(output, KerasTensor):
                output.node, output.index = self, index
                _name(output)
        for output in nest.flatten(outputs):
            if isinstance(output, KerasTensor):
                _name(output._keras_mask)
        for parent in self.parents():
            if parent.node is not None:
                parent.layer._outbound_nodes.append(self)

    def parents(self):
        """The symbolic tensors that the call reads."""
        leaves = nest.flatten((self.inputs, self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, KerasTensor)]

    @property
    def operation(self):
        """The layer that was called."""
        return self.layer

    outbound_layer = operation

    @property
    def input_tensors(self):
        """The symbolic tensors that the call reads, one alone bare."""
        parents = self.parents()
        if not parents:
            return nest.flatten(self.outputs)
        return parents[0] if len(parents) == 1 else parents

    @property
    def output_tensors(self):
        """What the call gave."""
        return self.outputs if self.parents() else nest.flatten(self.outputs)

    @property
    def keras_inputs(self):
        """The symbolic tensors that the call reads, in a list."""
        return self.parents()

    @property
    def parent_nodes(self):
        """The calls that the inputs come from."""
        return [parent.node for parent in self.parents()]

    @property
    def inbound_layers(self):
        """The layers that the inputs come from, one alone bare."""
        layers = [parent.layer for parent in self.parents()]
        return layers[0] if len(layers) == 1 else layers

    @property
    def input_shapes(self):
        """The shapes of the inputs."""
        return nest.map_structure(lambda x: tuple(x.shape.as_list()), self.input_tensors)

    @property
    def output_shapes(self):
        """The shapes of the outputs."""
        return nest.map_structure(lambda x: tuple(x.shape.as_list()), self.output_tensors)

    def iterate_inbound(self):
        """(layer, number of its call, number of its output, tensor) for each input."""
        for parent in self.parents():
            yield (*parent._keras_history, parent)


def any_symbolic(*structures):
    """Whether there is a symbolic tensor in nested lists, tuples and dicts."""
    for structure in structures:
        if isinstance(structure, KerasTensor):
            return True
        if isinstance(structure, (list, tuple)):
            if structure and any_symbolic(*structure):
                return True
        elif isinstance(structure, dict) and any_symbolic(*structure.values()):
            return True
    return False


boundaries(globals())
