"""A call of a layer: inputs become tensors of its dtype, `training` finds its way, weights are made."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import EagerTensor, Tensor
from tapeflow.checkpoint import following as trackable
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import current_graph, current_name_scope, executing_eagerly, name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function.autograph import tf_convert
from tapeflow.keras import settings
from tapeflow.keras.engine import autocast, masking
from tapeflow.keras.engine.fitting.stateless import in_symbolic_scope
from tapeflow.keras.engine.functional.symbolic import KerasTensor, Node, any_symbolic
from tapeflow.keras.engine.input_spec import assert_input_compatibility
from tapeflow.keras.engine.rematerialization import rematerialize
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable


class _CallState(threading.local):
    """Where this thread is: how deep in calls of layers, and whether they are training."""

    def __init__(self):
        self.depth = 0
        self.training = None
        # Whether calls only describe a model: what they add stays until the next real call.
        self.symbolic = False


state = _CallState()
_signatures: dict[object, CallSignature] = {}


class CallSignature:
    """What a layer's `call` takes."""

    def __init__(self, call: Callable[..., Any]):
        try:
            parameters = list(inspect.signature(call).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        self.names = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        # Without a default, in order.
        self.required = [
            p.name
            for p in parameters
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        keywords = any(p.kind is p.VAR_KEYWORD for p in parameters)
        by_name = {p.name: p for p in parameters}
        self.takes_training = "training" in by_name or keywords
        self.takes_mask = "mask" in by_name
        self.takes_masks_of_arguments = any(f"{name}_mask" in by_name for name in self.names)
        self.training_default = None
        if "training" in by_name and by_name["training"].default is not inspect.Parameter.empty:
            self.training_default = by_name["training"].default
        # Position among the arguments after self, None for keyword-only ones.
        self.training_position = self.names.index("training") if "training" in self.names else None
        self.mask_position = self.names.index("mask") if "mask" in self.names else None

    @property
    def first(self):
        """The name of the first argument."""
        return self.names[0] if self.names else "inputs"


def signature_of(layer):
    """The CallSignature of a layer, kept for its class."""
    call = layer.__dict__.get("call") or type(layer).call
    found = _signatures.get(call)
    if found is None:
        bound = call if "call" in layer.__dict__ else call.__get__(layer)
        found = _signatures[call] = CallSignature(bound)
    return found


def _resolve_training(signature: CallSignature, outer: bool | None, rest: Any, kwargs: dict[str, Any]):
    """Whether this call trains: as its argument says, else as the call around it, else as set globally."""
    position = signature.training_position
    if position is not None and len(rest) >= position:
        return rest[position - 1] if position else None, kwargs
    training = kwargs.get("training")
    if training is not None:
        if not signature.takes_training:
            kwargs = {name: value for name, value in kwargs.items() if name != "training"}
        return training, kwargs
    training = outer
    if training is None and settings.learning_phase_is_set():
        training = bool(settings.learning_phase())
    if training is None and signature.training_position is not None and settings.in_plain_graph():
        training = signature.training_default
        training = settings.learning_phase() if training is None else training
    if training is None:
        return signature.training_default, kwargs
    if signature.takes_training:
        kwargs = {**kwargs, "training": training}
    return training, kwargs


def _is_symbolic(inputs: TensorLike):
    if isinstance(inputs, KerasTensor):
        return True
    if isinstance(inputs, (list, tuple, dict)):
        return any(isinstance(x, KerasTensor) for x in nest.flatten(inputs))
    return False


def _prepare_leaf(x, target, layer):
    if isinstance(x, (np.ndarray, np.generic, float, int, Variable)):
        x = convert_to_tensor(x)
    elif not isinstance(x, Tensor) and not hasattr(x, "dtype"):
        if type(layer)._checks_inputs and layer._input_spec is not None:
            raise TypeError(
                f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for "
                f"layer '{layer.name}'."
            )
        return x
    if target is not None and x.dtype.is_floating and x.dtype != target and hasattr(x, "shape"):
        return masking.kept(x, cast(x, target))
    return x


def _spec_of(x: TensorLike):
    return TensorSpec(x.shape, x.dtype) if isinstance(x, Tensor) else x


@functools.cache
def _shape_arguments(build: Callable[..., Any]):
    """The arguments of a class's `build` where it takes one for each input of `call`: "query_shape", "value_shape"."""
    names = CallSignature(build).names[1:]
    return tuple(names) if len(names) > 1 and all(name.endswith("_shape") for name in names) else ()


def shapes_of(inputs: TensorLike):
    """The structure of shapes of the inputs."""
    if hasattr(inputs, "shape"):
        return TensorShape(inputs.shape)
    return nest.map_structure(
        lambda x: TensorShape(x.shape) if hasattr(x, "shape") else None, inputs
    )


def note(error, layer):
    """Says once, in an error's notes, in which layer it was raised."""
    if not getattr(error, "__notes__", None):
        error.add_note(f"in layer {layer.name!r} (type {type(layer).__name__})")


class Called:
    """How a layer is called."""

    def _call_as_keras(self: Any, args: Sequence[TensorLike], kwargs: dict[str, Any]):
        """layer(*args, **kwargs) with all that Keras promises around `layer.call`."""
        if "_remat_scope" in self.__dict__:
            rematerialize(self)
        signature = signature_of(self)
        if args:
            inputs, rest = args[0], args[1:]
        elif signature.first in kwargs:
            kwargs = dict(kwargs)
            inputs, rest = kwargs.pop(signature.first), ()
        else:
            raise ValueError("The first argument to `Layer.call` must always be passed.")

        if (rest or kwargs) and any_symbolic(rest, kwargs):
            return self._call_on_symbols(inputs, rest, kwargs)
        if type(inputs) is not EagerTensor or inputs.dtype is not self._compute_dtype_object:
            if _is_symbolic(inputs):
                return self._call_on_symbols(inputs, rest, kwargs)
            inputs = self._prepared_inputs(inputs)

        if rest:
            rest = tuple(self._prepared_argument(x) for x in rest)
        if kwargs:
            kwargs = {name: self._prepared_argument(x) for name, x in kwargs.items()}
        depth, outer_training = state.depth, state.training
        symbolic = state.symbolic or in_symbolic_scope()
        if depth == 0 and self._losses_exist and not symbolic and not settings.in_plain_graph():
            self._clear_losses()
        mask = None
        if masking.exist or (self._computes_mask and self.supports_masking):
            if self.supports_masking or signature.takes_mask:
                mask, kwargs = masking.of_call(signature, inputs, rest, kwargs)
            if masking.exist and signature.takes_masks_of_arguments and not keras_2():
                kwargs = masking.of_arguments(signature, inputs, rest, kwargs)
        training, kwargs = _resolve_training(signature, outer_training, rest, kwargs)
        if self._input_spec is not None:
            assert_input_compatibility(self._input_spec, inputs, self.name)

        state.depth, state.training = depth + 1, training
        outer_dtype = autocast.scope.dtype
        autocast.scope.dtype = self._compute_dtype_object if self._is_mixed else None
        try:
            if self.built and executing_eagerly():
                outputs = self.call(inputs, *rest, **kwargs)
            else:
                self._remember_inputs(inputs)
                with name_scope(self._scope_name()):
                    if not self.built:
                        self._build_from_inputs(inputs, rest, kwargs)
                    outputs = self._converted_call()(inputs, *rest, **kwargs)
        except Exception as error:
            note(error, self)
            raise
        finally:
            state.depth, state.training = depth, outer_training
            autocast.scope.dtype = outer_dtype
        if self._activity_regularizer is not None:
            self._add_activity_loss(outputs)
        if self.supports_masking and (self._computes_mask or masking.exist):
            masking.attach(self, inputs, outputs, mask)
        self._after_call()
        return outputs

    def _call_on_symbols(self: Any, inputs: Any, args: Sequence[Any], kwargs: dict[str, Any]):
        """The symbolic outputs of a call; makes the layer's weights."""
        assert_input_compatibility(self._input_spec, inputs, self.name)
        if not self.built:
            with name_scope(self._scope_name()):
                self._build_from_inputs(inputs, args, kwargs)
        assert_input_compatibility(self._input_spec, inputs, self.name)
        outputs = self._symbolic_outputs(inputs, args, kwargs)
        self._nodes.append(Node(self, inputs, args, kwargs, outputs))
        return outputs

    def _remember_inputs(self: Any, inputs: Tensor):
        """Keeps what a layer is called on in a graph of 1.x, so that losses and updates can be told apart by it."""
        if settings.in_plain_graph():
            self.__dict__.setdefault("_called_on", []).extend(
                x for x in nest.flatten(inputs) if isinstance(x, Tensor)
            )

    def _converted_call(self: Any):
        """`layer.call`; while a graph is built, with the control flow of the program's own layers converted."""
        if executing_eagerly() or not getattr(current_graph(), "converts", True):
            return self.call

        return tf_convert(self.call)

    def _prepared_inputs(self: Any, inputs: TensorLike):
        """The inputs as tensors, floating ones in the layer's compute dtype."""
        target = self._compute_dtype_object if self._autocast else None
        if isinstance(inputs, (Tensor, np.ndarray, Variable)):
            return _prepare_leaf(inputs, target, self)
        return nest.map_structure(lambda x: _prepare_leaf(x, target, self), inputs)

    def _prepared_argument(self: Any, x: Any):
        """An argument besides the inputs: arrays as tensors; in Keras 3 floats in the layer's compute dtype."""
        if x is None or isinstance(x, (bool, int, float, str, Variable)):
            return x
        if isinstance(x, np.ndarray):
            x = convert_to_tensor(x)
        if isinstance(x, Tensor):
            target = self._compute_dtype_object
            if x.dtype is target or not x.dtype.is_floating or not self._autocast or keras_2():
                return x
            return masking.kept(x, cast(x, target))
        if type(x) in (list, tuple, dict) and any(isinstance(each, (Tensor, np.ndarray)) for each in nest.flatten(x)):
            return nest.map_structure(self._prepared_argument, x)
        return x

    def _build_from_inputs(self: Any, inputs: TensorLike, rest: Any, kwargs: dict[str, Any]):
        """Makes the weights of a layer for a call with these inputs."""
        self.__dict__.setdefault("_first_inputs", nest.map_structure(_spec_of, inputs))
        if wanted := _shape_arguments(type(self).build):
            named = {**dict(zip(signature_of(self).names, (inputs, *rest), strict=False)), **kwargs}
            given = {name: named.get(name.removesuffix("_shape")) for name in wanted}
            if given[wanted[0]] is not None:
                shapes = {name: shapes_of(x) for name, x in given.items() if x is not None}
                self.__dict__["_shapes_by_name"] = shapes
        self._build_for_shapes(shapes_of(inputs))
        if self._input_spec is not None:
            assert_input_compatibility(self._input_spec, inputs, self.name)

    def _build_for_shapes(self: Any, shapes: TensorShape):
        """Makes the weights of a layer for inputs of these shapes."""
        self._input_shape_seen = shapes
        if self._path is None and not keras_2():
            self.__dict__["_path"] = current_name_scope().rstrip("/")
        if self._shapes_by_name is None:
            self.build(shapes)
        else:
            self.build(**self._shapes_by_name)
        self.built = True
        self._load_initial_weights()
        if trackable.waiting:
            trackable.look_again()

    def _add_activity_loss(self: Any, outputs: Tensor):
        if state.symbolic and not keras_2():
            return
        for output in nest.flatten(outputs):
            penalty = self._activity_regularizer(output)
            if hasattr(penalty, "dtype"):
                sizes = output.shape.as_list() if output.shape.rank else [1]
                batch = shape_of(output)[0] if sizes[0] is None else sizes[0]
                if not keras_2():  # without a sample the penalty is 0
                    batch = maximum(batch, 1) if sizes[0] is None else max(batch, 1)
                penalty = penalty / cast(batch, penalty.dtype)
            self.add_loss(penalty)

    def _call_is_fast(self: Any):
        """Whether later calls with one tensor of the right dtype may go straight to `layer.call`."""
        return (
            type(self)._plain_call
            and self.built
            and self._activity_regularizer is None
            and not self._is_mixed
            and "call" not in self.__dict__
            and executing_eagerly()
        )


def one_positional(model: Any, method: str):
    """Raises ValueError if a model that a method feeds asks `call` for more than its inputs and `training`."""
    extra = _more_positional(type(model).call)
    if extra:
        raise ValueError(
            f"Models passed to `{method}` can only have `training` and the first argument in `call()` as "
            f"positional arguments, found: {extra}."
        )


@functools.cache
def _more_positional(call: Callable[..., Any]):
    spec = inspect.getfullargspec(inspect.unwrap(call))
    required = spec.args[: len(spec.args) - len(spec.defaults or ())]
    return [name for name in required if name != "training"][2:]
