"""Settings of a converter: optimizations, ops and dtypes of the target, samples of its inputs."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.core.public import public_methods


class Optimize(enum.Enum):
    """What a model is optimized for.

    DEFAULT: weights, and with a representative dataset activations, are quantized. OPTIMIZE_FOR_SIZE and
    OPTIMIZE_FOR_LATENCY: the same. EXPERIMENTAL_SPARSITY: sparse weights are stored as such, which `convert` refuses.
    """

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return str(self.value)


class OpsSet(enum.Enum):
    """A set of ops that a model may use.

    TFLITE_BUILTINS: those of TensorFlow Lite. SELECT_TF_OPS: kernels of TensorFlow, which the runtime here does not
    have, so that an operation that needs one is still an error. TFLITE_BUILTINS_INT8: those that compute with int8
    only. EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8: weights are int8, all else int16.
    EXPERIMENTAL_STABLEHLO_OPS: those of StableHLO, which `convert` refuses.
    """

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return str(self.value)

    @staticmethod
    def get_options() -> list[str]:
        """The names of all sets."""
        return [str(option) for option in OpsSet]


@public_methods
class RepresentativeDataset:
    """Samples of the inputs of a model, to find the ranges of what it computes.

    Args:
      input_gen: a function that gives an iterator over samples: lists of the inputs in their order, dicts by their
        names, or tuples of the key of a signature and one of these.
    """

    def __init__(self, input_gen):
        self.input_gen = input_gen


@public_methods
class TargetSpec:
    """What the device that runs a model can do.

    Args:
      supported_ops: the `OpsSet`s that may be used; by default {OpsSet.TFLITE_BUILTINS}.
      supported_types: the dtypes that constants may have; the smallest one is chosen. Empty: int8.
      experimental_select_user_tf_ops: kernels of TensorFlow that a program's runtime has; `convert` refuses them.
      experimental_supported_backends: the backends to fit the model for; `convert` refuses them.
    """

    def __init__(
        self,
        supported_ops=None,
        supported_types=None,
        experimental_select_user_tf_ops=None,
        experimental_supported_backends=None,
    ):
        self.supported_ops: Any = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types: Any = set() if supported_types is None else supported_types
        self.experimental_select_user_tf_ops: Any = experimental_select_user_tf_ops or set()
        self.experimental_supported_backends = experimental_supported_backends
