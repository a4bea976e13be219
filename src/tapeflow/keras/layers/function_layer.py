"""Functions as layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import function_code
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.calling import CallSignature
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.registry import find


class Lambda(Layer):
    """A Python function as a layer. It must not have weights: these would not be trained or saved.

    Args:
      function: a function of the inputs, and of `mask` and `training` where it has such parameters.
      output_shape: the shape of one output without the batch, a list of such, or a function of the input's shape;
        None where it can be found by a trial.
      mask: the mask of the outputs, or a function of inputs and mask.
      arguments: further keyword arguments of the function, a dict.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      NotImplementedError: where the shape of the outputs is needed and cannot be found.

    >>> layer = tf.keras.layers.Lambda(lambda x: x ** 2)
    >>> print(layer(tf.constant([2.0, 3.0])).numpy())
    [4. 9.]
    """

    def __init__(
        self, function: Callable[..., Any], output_shape: Sequence[Any] | None = None, mask: Tensor | None = None,
        arguments: dict[str, Any] | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        self.function = function
        self.arguments = dict(arguments or {})
        self._output_shape = output_shape
        self.mask = mask
        self.supports_masking = mask is not None
        signature = CallSignature(function)
        self.__dict__["_takes"] = [n for n in ("mask", "training") if n in signature.names]

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        if callable(self.mask):
            return self.mask(inputs, mask)
        return self.mask

    def call(self, inputs, mask=None, training=None):
        arguments = dict(self.arguments)
        given = {"mask": mask, "training": training}
        arguments |= {name: given[name] for name in self._takes}
        return self.function(inputs, **arguments)

    def _says_output_shape(self):
        return self._output_shape is not None

    def compute_output_shape(self, input_shape: Sequence[Any]):
        if self._output_shape is None:
            try:
                return super().compute_output_shape(input_shape)
            except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
                raise NotImplementedError(
                    "We could not automatically infer the shape of the Lambda's output. Please specify "
                    "`output_shape` for this Lambda."
                ) from error
        if callable(self._output_shape):
            return as_shapes(self._output_shape(input_shape))
        first = TensorShape(_first_shape(input_shape)).as_list()[:1]

        def with_batch(shape: Sequence[Any]):
            return TensorShape([*first, *shape])

        shape = self._output_shape
        if any(isinstance(part, (tuple, list, TensorShape)) for part in shape):
            return [with_batch(part) for part in shape]
        return with_batch(shape)

    def get_config(self):
        function, kind, module = _function_config(self.function)
        shape, shape_kind, shape_module = self._output_shape, "raw", None
        if callable(shape):
            shape, shape_kind, shape_module = _function_config(shape)
        config = {**super().get_config(), "function": function, "output_shape": shape, "mask": self.mask}
        config["arguments"] = self.arguments
        if keras_2():
            config |= {"function_type": kind, "module": module}
            config |= {"output_shape_type": shape_kind, "output_shape_module": shape_module}
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        """A layer from the constructor's arguments; functions by name are looked up among custom objects."""
        config = dict(config)
        for name in ("function_type", "module", "output_shape_type", "output_shape_module"):
            config.pop(name, None)
        config["function"] = _named_function(config["function"], custom_objects)
        if isinstance(config.get("output_shape"), str):
            config["output_shape"] = _named_function(config["output_shape"], custom_objects)
        return cls(**config)


def _function_config(function: Callable[..., Any]):
    """(what a config has of a function, its kind, its module): a known function's name, or the function itself."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", "<lambda>")
    if name == "<lambda>":
        return function, "lambda", module
    known = getattr(function, "_keras_name", None)
    return (known, "function", module) if known else (function, "lambda", module)


def _named_function(value: Callable[..., Any] | dict[str, Any], custom_objects: Mapping[str, Any] | None):
    if isinstance(value, str):
        return find(value, {}, "function", custom_objects)
    return value if callable(value) else function_code.load(value)


def _first_shape(input_shape: Sequence[Any]):
    if isinstance(input_shape, (list, tuple)) and any(
        isinstance(part, (list, tuple, TensorShape)) for part in input_shape
    ):
        return input_shape[0]
    return input_shape
