"""`tf.lite.TFLiteConverter` of 2.x."""

from __future__ import annotations

from typing import Any

from tapeflow.core.public import public_methods
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.lite.converting import Settings, convert, convert_lowered
from tapeflow.lite.importing import load
from tapeflow.lite.lowering import Signature
from tapeflow.saved_model.loading import load as load_saved_model

_DEFAULT_KEY = "serving_default"


@public_methods
class TFLiteConverter(Settings):
    """Converts functions and models to TensorFlow Lite. Needs the extra `lite`.

    What an unknown first dimension becomes in the model can be chosen with `Interpreter.resize_tensor_input`. Loops
    whose number of steps is known are unrolled.

    Args:
      funcs: list of concrete functions. Several become signatures by their names.
      trackable_obj: what holds their variables; several functions need it.
    """

    def __init__(self, funcs, trackable_obj=None):
        super().__init__()
        self._funcs = funcs
        self._trackable_obj = trackable_obj

    @classmethod
    def from_concrete_functions(cls, funcs, trackable_obj=None):
        """A converter of concrete functions.

        Args:
          funcs: list of concrete functions; one, or with `trackable_obj` several.
          trackable_obj: what holds their variables.

        Returns:
          A `TFLiteConverter`.

        Raises:
          ValueError: an element is no concrete function.
        """
        for func in funcs:
            if not isinstance(func, ConcreteFunction):
                hint = " To get the ConcreteFunction from a Function, call get_concrete_function."
                raise ValueError(
                    "This function takes in a list of ConcreteFunction." + (hint if isinstance(func, Function) else "")
                )
        return cls(funcs, trackable_obj)

    @classmethod
    def from_saved_model(cls, saved_model_dir, signature_keys=None, tags=None):
        """A converter of the signatures of a SavedModel.

        Args:
          saved_model_dir: its folder.
          signature_keys: those to convert; by default all.
          tags: of the graph to load; by default {"serve"}.

        Returns:
          A `TFLiteConverter`.

        Raises:
          ValueError: there is no such signature, or none at all.
          OSError: there is no SavedModel.
        """
        model = load_saved_model(saved_model_dir, {"serve"} if tags is None else tags)
        keys = list(signature_keys or model.signatures)
        if not keys:
            raise ValueError("Only support at least one signature key.")
        if len(keys) > 1 and hasattr(model, "serve") and _DEFAULT_KEY in keys:
            keys = [_DEFAULT_KEY]  # what `model.export` wrote has the same function twice
        for key in keys:
            if key not in model.signatures:
                raise ValueError(
                    f"Invalid signature key '{key}' found. Valid keys are '{','.join(model.signatures)}'."
                )
        return _SavedModelConverter({key: model.signatures[key] for key in keys}, model)

    @classmethod
    def from_keras_model(cls, model):
        """A converter of a Keras model as it runs outside of training.

        Args:
          model: a built `tf.keras.Model`.

        Returns:
          A `TFLiteConverter`.

        Raises:
          ValueError: the model has not been built.
        """
        from tapeflow.keras.export import (
            inference_function,  # here, as other converters do not need Keras
        )

        return cls([inference_function(model)], model)

    @classmethod
    def experimental_from_jax(cls, serving_funcs, inputs):
        """A converter of a function of JAX.

        Args:
          serving_funcs: list of one function of arrays.
          inputs: list of the inputs of each: tuples of a name and an array of its shape and dtype.

        Returns:
          A `TFLiteConverter`.
        """
        return _JaxConverter(serving_funcs, inputs)

    def convert(self):
        """The model.

        Returns:
          The bytes of a FlatBuffer.

        Raises:
          ConverterError: an operation cannot be converted; the message names it, and its line in the program.
          ValueError: there is not one function, or settings contradict each other.
          UnimplementedError: the extra `lite` is not installed, or a setting is not supported.
        """
        return convert(self, self._signatures())

    def _signatures(self) -> dict[str, Any]:
        """The functions by the keys of their signatures."""
        if not self._funcs:
            raise ValueError("No ConcreteFunction is specified.")
        if len(self._funcs) == 1:
            return {_DEFAULT_KEY: self._funcs[0]}
        if self._trackable_obj is None:
            raise ValueError(
                "This converter can only convert a single ConcreteFunction. Converting multiple functions is under "
                "development."
            )
        found: dict[str, Any] = {}
        for func in self._funcs:
            if found.setdefault(func.graph.name, func) is not func:
                raise ValueError(
                    f"Two functions are named '{func.graph.name}'. Signatures are called by the names of their "
                    "functions: give each `tf.function` a name of its own."
                )
        return found


class _SavedModelConverter(TFLiteConverter):
    """Of signatures, by their keys."""

    def _signatures(self) -> dict[str, Any]:
        return self._funcs


class _JaxConverter(TFLiteConverter):
    """Of a function of JAX."""

    def convert(self):
        if not self._funcs or not self._trackable_obj:
            raise ValueError("No serving func is specified." if not self._funcs else "Input tensors are not specified.")
        if len(self._funcs) != 1 or len(self._trackable_obj) != 1:
            raise ValueError("Currently only support single serving function and its inputs.")
        jax, export = load("jax"), load("jax.export")
        names, arrays = zip(*self._trackable_obj[0], strict=True)
        specs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays]
        exported = export.export(jax.jit(self._funcs[0]), platforms=["cpu"])(*specs)
        keys = [f"output_{i}" for i in range(len(exported.out_avals))]
        return convert_lowered(self, exported.mlir_module(), [Signature("main", _DEFAULT_KEY, names, keys)])
