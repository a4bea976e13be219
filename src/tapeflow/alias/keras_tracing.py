"""`tensorflow.python.keras.saving.saving_utils`: a Keras model as a function, which converters trace."""

from __future__ import annotations

from typing import Any

from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.function.function import function


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A `tf.function` that calls a model as in inference, and returns its outputs as a dict by their names.

    Args:
      model: a built Keras model.
      input_signature: `TensorSpec`s, one for each argument of the model; None: those of the model's inputs.

    Raises ValueError for a model that has not been built where no signature is given.
    """
    if input_signature is None:
        given = nest.flatten(getattr(model, "inputs", None) or [])
        if not given:
            raise ValueError(f"Model {model} cannot be saved because the input shapes have not been set.")
        names = getattr(model, "input_names", None) or [f"input_{i + 1}" for i in range(len(given))]
        specs = [TensorSpec(x.shape, x.dtype, name) for x, name in zip(given, names, strict=True)]
        input_signature = specs if len(specs) == 1 else [specs]

    @function(input_signature=input_signature)
    def traced(*arguments: Any) -> dict[str, Any]:
        outputs = nest.flatten(model(*arguments, training=False))
        names = getattr(model, "output_names", None) or [f"output_{i + 1}" for i in range(len(outputs))]
        return dict(zip(names, outputs, strict=True))

    return traced
