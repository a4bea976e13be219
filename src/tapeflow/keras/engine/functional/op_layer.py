"""Functions and operators called on symbolic tensors, as layers of the model that is being described."""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow._native import PublicFunction
from tapeflow.core import stand_ins
from tapeflow.core.annotations import Tensor
from tapeflow.core.context import current_graph
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.deserialization import refuse_unsafe
from tapeflow.core.public import is_tensor_function
from tapeflow.core.release import keras_2
from tapeflow.core.variables import dtype_of
from tapeflow.keras import settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.graph_tensors import graph_tensors
from tapeflow.keras.engine.functional.inference import infer
from tapeflow.keras.engine.functional.operators import FUNCTIONS, class_name, layer_name
from tapeflow.keras.engine.functional.symbolic import KerasTensor, Node, any_symbolic


def _binary(function: Callable[..., Any]):
    def operate(x: Tensor, y: Tensor, name=None):
        return function(x, y)

    return operate


def _unary(function: Callable[..., Any]):
    def operate(x: Tensor, name=None):
        return function(x)

    return operate


def _slice(tensor: Tensor, slice_spec):
    return tensor[slice_spec]


# As layers: with names for the operands, which configs hold.
_OPERATORS = {operator.getitem: ("__operators__.getitem", _slice)}
_BINARY = "add sub mul truediv floordiv mod pow matmul lt le gt ge ne and_ or_ xor"
for _name in _BINARY.split(" "):
    _function = getattr(operator, _name)
    _OPERATORS[_function] = (f"__operators__.{_name.strip('_')}", _binary(_function))
for _name in ("neg", "abs", "invert"):
    _function = getattr(operator, _name)
    _OPERATORS[_function] = (f"__operators__.{_name}", _unary(_function))
_OPERATOR_NAMES = dict(_OPERATORS.values())
# Namespaces in which functions have the names that configs use.
_NAMESPACES = ("math", "nn", "linalg", "image", "strings", "signal", "bitwise", "", "keras.backend",
               "keras.activations", "keras.losses", "keras.ops", "keras.ops.image",
               "compat.v1", "compat.v1.nn")  # fmt: skip


class TFOpLambda(Layer):
    """A public function, or an operator, as a layer: made when one is called on symbolic tensors."""

    _keras_module = "keras.src.models.functional"

    def __init__(self, function: Callable[..., Any] | str, name: str | None = None, **kwargs):
        kwargs["autocast"] = False
        if isinstance(function, str):
            public_name, function = function, _function_of(function)
        else:
            public_name = _name_of(function)
        if name is None:
            of_keras = (public_name or "").startswith("keras.ops.")
            base = layer_name(function) if of_keras else f"tf.{public_name or 'function'}"
            name = settings.unique_name(base)
        super().__init__(name=name, **kwargs)
        self.function = function
        self.__dict__["call"] = function
        self.__dict__["_public_name"] = public_name
        self.built = True

    def __call__(self, *args, **kwargs):
        if any_symbolic(args, kwargs):
            return self._call_symbolically(args, kwargs)
        return self.function(*args, **kwargs)

    def _call_symbolically(self, args: Sequence[Any], kwargs: dict[str, Any]):
        function = self.function
        if not args:
            args, kwargs = _first_positional(function, kwargs)
        outputs = infer(function, args[0], args[1:], kwargs)
        self._nodes.append(Node(self, args[0], args[1:], kwargs, outputs))
        return outputs

    def get_config(self):
        if not self._public_name:
            raise ValueError(
                f"The function {self.function!r} of layer {self.name} is none of the public ones, so "
                "that a config cannot name it. Wrap it in a layer."
            )
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype,
                "function": self._public_name}  # fmt: skip


class SlicingOpLambda(TFOpLambda):
    """x[...] as a layer."""


class Operation(TFOpLambda):
    """A call of a function of `keras.ops`: part of a model, but in Keras 3 none of its layers.

    Args:
      constants: arguments by name that every call gets.
    """

    _is_layer_of_models = False

    def __init__(
        self, function: Callable[..., Any] | str, constants: dict[str, Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(function, name=name)
        self.__dict__["constants"] = constants or {}

    def get_config(self):
        config = super().get_config()
        return {**config, "constants": self.constants} if self.constants else config

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """An operation from what `get_config` returned."""
        return cls(config["function"], config.get("constants"), config.get("name"))

    def __call__(self, *args, **kwargs):
        if self.constants:
            free = [name for name in inspect.signature(self.function).parameters if name not in self.constants]
            kwargs = {**self.constants, **kwargs}
            if len(args) > 1:
                args, kwargs = args[:1], {**dict(zip(free[1:], args[1:])), **kwargs}
        return super().__call__(*args, **kwargs)


@functools.cache
def operation_class(name: str):
    """The class of operations that Keras 3 calls by `name`."""
    return type(name, (Operation,), {})


def _first_positional(function, kwargs: Mapping[Any, Any]):
    """(args, kwargs) with the first parameter's argument in args, for keywords only."""
    kwargs = dict(kwargs)
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    for name in names[:1]:
        if name in kwargs:
            return (kwargs.pop(name),), kwargs
    raise TypeError(f"{function!r} was called on symbolic tensors without its first argument")


def call_function(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]):
    """function(*args, **kwargs), with symbolic tensors among the arguments, as a new layer."""
    if not keras_2() and (_name_of(function) or "").startswith("keras.ops."):
        return operation_class(class_name(function))(function)(*args, **kwargs)
    kind = SlicingOpLambda if function is _OPERATORS[operator.getitem][1] else TFOpLambda
    return kind(function)(*args, **kwargs)


def operate(function: Callable[..., Any], *operands):
    """A function of the `operator` module of operands among which there are symbolic tensors, as a layer."""
    of_keras_2, of_keras_3 = FUNCTIONS[function]
    if not keras_2():
        return getattr(importlib.import_module("tapeflow.keras.ops"), of_keras_3)(*operands)
    if function is operator.xor:  # in Keras 2 made of others
        either, both = operands[0] | operands[1], operands[0] & operands[1]
        return either & ~both
    kind = SlicingOpLambda if function is operator.getitem else TFOpLambda
    return kind(of_keras_2)(*_of_one_dtype(*operands))


def _of_one_dtype(*operands):
    """The operands; a first one that is no symbolic tensor in the dtype of the second."""
    first = operands[0]
    if isinstance(first, KerasTensor):
        return operands
    dtype = dtype_of(operands[1])
    if isinstance(first, (bool, int, float)) and dtype.is_floating:
        return float(first), operands[1]
    return convert_to_tensor(first, dtype), operands[1]


def _stand_in(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]):
    """A layer for a public function that failed to convert symbolic tensors.

    While a graph is built, functions that add to it more than the result get tensors of the graph.
    """
    try:
        symbolic = any_symbolic(list(args), list(kwargs.values()))
    except (TypeError, ValueError):  # not iterable after all: the function's own error says what is wrong
        return NotImplemented
    if not symbolic or isinstance(function, type):
        return NotImplemented
    kind = _kind(function)
    if kind == "graph" and current_graph() is not None:
        args, kwargs = graph_tensors((args, kwargs))
        return function(*args, **kwargs)
    return call_function(function, args, kwargs) if kind == "tensors" else NotImplemented


_GRAPH_MODULES = (
    "tapeflow.autodiff", "tapeflow.train", "tapeflow.summary", "tapeflow.graph",
    "tapeflow.v1.summary", "tapeflow.v1.losses", "tapeflow.v1.metrics",
)  # fmt: skip
_OWN_MODULES = (
    "tapeflow.keras.layers",
    "tapeflow.keras.engine",
    "tapeflow.layers",
    "tapeflow.data",
)


def _kind(function: Callable[..., Any]):
    """ "tensors": a function of tensors; "graph": one that looks at or adds to a graph; None: neither."""
    module = getattr(function, "__module__", None) or ""
    if module.startswith(_GRAPH_MODULES):
        return "graph"
    if "." in getattr(function, "__qualname__", "") or module.startswith(_OWN_MODULES):
        return None
    return "tensors"


def _namespaces():
    root = sys.modules["tapeflow"]
    for path in _NAMESPACES:
        module = root
        for part in path.split(".") if path else ():
            module = getattr(module, part)
        yield path, module


_names: dict = {}


def _name_of(function: Callable[..., Any]):
    """The public name of a function, such as "math.reduce_mean"; None where it has none."""
    for name, value in _OPERATOR_NAMES.items():
        if value is function:
            return name
    if function not in _names:
        _names[function] = _search(function)
    return _names[function]


def _search(function: Callable[..., Any]):
    short = getattr(function, "__name__", "")
    for path, module in _namespaces():
        name = short if getattr(module, short, None) is function else None
        if name is None:
            name = next((n for n, value in vars(module).items() if value is function), None)
        if name is not None:
            return f"{path}.{name}" if path else name
    return None


def _function_of(name: str):
    """The public function of that name, which a config gave.

    Raises ValueError for anything else, and in safe mode for functions that do more than to compute tensors.
    """
    if name in _OPERATOR_NAMES:
        return _OPERATOR_NAMES[name]
    path, _, last = name.rpartition(".")
    module = dict(_namespaces()).get(path)
    function = None if last.startswith("_") else getattr(module, last, None)
    if is_tensor_function(function):
        return function
    if isinstance(function, PublicFunction):
        refuse_unsafe(f"the function {name!r}, which does more than to compute tensors")
        return function
    raise ValueError(f"Unknown function in the config of a layer: {name!r}")


stand_ins.register(_stand_in)
