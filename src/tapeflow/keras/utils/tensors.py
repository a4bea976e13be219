"""Small questions about symbolic tensors, batches and dtypes."""

from __future__ import annotations

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor_or_composite
from tapeflow.core.convert import is_symbolic_tensor as is_graph_tensor
from tapeflow.core.public import boundaries
from tapeflow.keras.engine.functional.symbolic import KerasTensor


def is_keras_tensor(x: TensorLike):
    """Whether x is a symbolic tensor of the functional API."""
    return isinstance(x, KerasTensor)


_convertible: list[type] = []


def register_symbolic_tensor_type(cls_type):
    """Let objects of a class that can be converted to tensors count as symbolic where their tensors are.

    Args:
      cls_type: the class.
    """
    if cls_type not in _convertible:
        _convertible.append(cls_type)


def is_symbolic_tensor(tensor: TensorLike):
    """Whether a value is known only when a model or graph runs.

    Args:
      tensor: a tensor, a variable, or an object of a class given to `register_symbolic_tensor_type`.
    """
    if isinstance(tensor, tuple(_convertible)):
        tensor = convert_to_tensor_or_composite(tensor)
    return isinstance(tensor, KerasTensor) or is_graph_tensor(tensor)


def get_source_inputs(tensor):
    """The inputs that a symbolic tensor is made from, each once."""
    found, waiting, seen = [], [tensor], set()
    while waiting:
        t = waiting.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        parents = t.node.parents()
        if parents:
            waiting += reversed(parents)
        else:
            found.append(t)
    return found


boundaries(globals())
