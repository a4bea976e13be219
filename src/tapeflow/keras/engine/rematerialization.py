"""`keras.remat` and `keras.RematScope`: computing again for gradients what would take memory to keep."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.autodiff.custom_gradient import recompute_grad
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public, public_methods
from tapeflow.core.structures import nest
from tapeflow.keras.activations import linear

if TYPE_CHECKING:
    from tapeflow.keras.engine.base_layer import Layer

_MODES = ("full", "activations", "larger_than", "list_of_layers", None)


class _Scopes(threading.local):
    def __init__(self):
        self.stack = []


_scopes = _Scopes()


@public
def remat(f: Callable[..., Any]):
    """Return a function that computes `f`, and for gradients computes it again instead of keeping what it computed.

    Args:
      f: a function of tensors.
    """
    return recompute_grad(f)


@public_methods
class RematScope:
    """Let the layers that are made inside be computed again for gradients.

    Args:
      mode: "full" for all layers, "activations" for their activation functions, "larger_than" for layers whose outputs
        are larger than the threshold, "list_of_layers" for those of the given names, None for none.
      output_size_threshold: the number of elements, unknown sizes counting as one.
      layer_names: names of layers.

    Raises:
      ValueError: for an unknown mode.
    """

    def __init__(self, mode: str = "full", output_size_threshold: int = 1024, layer_names=None):
        if mode not in _MODES:
            raise ValueError(
                f"Invalid mode '{mode}'. Supported modes are: 'full', 'activations', 'larger_than', 'list_of_layers', "
                "or  None."
            )
        self.mode, self.output_size_threshold, self.layer_names = mode, output_size_threshold, layer_names or []

    def __enter__(self):
        _scopes.stack.append(self)
        return self

    def __exit__(self, *args):
        _scopes.stack.pop()


def innermost():
    """The scope that new layers are made in, or None."""
    return _scopes.stack[-1] if _scopes.stack else None


def rematerialize(layer: Layer):
    """Let a layer follow the scope that it was made in, from its first call on."""
    scope = layer.__dict__.pop("_remat_scope")
    if scope.mode is None:
        return
    if scope.mode == "list_of_layers" and layer.name not in scope.layer_names:
        return
    if scope.mode == "activations":
        activation = getattr(layer, "activation", None)
        if activation not in (None, linear):
            layer.activation = remat(activation)
        return
    call = layer.call
    known: dict = {}

    def is_small(inputs: Tensor):
        shapes = tuple(tuple(x.shape) for x in nest.flatten(inputs))
        if shapes not in known:
            known[shapes] = True  # for the call that shows how large the outputs are
            known[shapes] = _size(layer, inputs) <= scope.output_size_threshold
        return known[shapes]

    @functools.wraps(call)
    def recomputed(inputs: Tensor, *args, **kwargs):
        if scope.mode == "larger_than" and is_small(inputs):
            return call(inputs, *args, **kwargs)
        return remat(lambda x: call(x, *args, **kwargs))(inputs)

    layer.__dict__["call"] = recomputed


def _size(layer: Layer, inputs: Tensor):
    """The number of elements of the outputs."""
    shapes = layer.compute_output_shape(nest.map_structure(lambda x: x.shape, inputs))
    shapes = shapes if isinstance(shapes, list) else [shapes]
    return sum(math.prod(size or 1 for size in shape.as_list()) for shape in shapes)
