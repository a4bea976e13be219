"""How a model is quantized, by the settings of its converter."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import UnimplementedError
from tapeflow.lite.options import OpsSet, Optimize, RepresentativeDataset

_INT16 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8


class Mode(enum.Enum):
    """FLOAT: not at all. DYNAMIC: weights are int8, activations quantized while the model runs. FLOAT16: weights are
    float16. INT8, INT16: weights are int8, activations of that dtype."""

    FLOAT = "float"
    DYNAMIC = "dynamic"
    FLOAT16 = "float16"
    INT8 = "int8"
    INT16 = "int16"


def mode_of(optimizations: Any, target: Any, dataset: Any, trained: bool = False) -> Mode:
    """The mode for the settings of a converter.

    Args:
      trained: whether the functions have ranges that training measured.

    Raises:
      ValueError: the settings contradict each other.
      UnimplementedError: a setting asks for what is not there.
    """
    options, ops = set(optimizations), set(target.supported_ops)
    types = {as_dtype(t) for t in target.supported_types}
    _refuse(options, ops, target)
    if OpsSet.TFLITE_BUILTINS_INT8 in ops or types == {dtypes.int8}:
        if ops == {OpsSet.TFLITE_BUILTINS_INT8} and types not in (set(), {dtypes.int8}):
            raise ValueError(
                "As full integer quantization has been enabled by setting `target_spec.supported_ops`="
                "{tf.lite.OpsSet.TFLITE_BUILTINS_INT8}, thus `target_spec.supported_types` should be left "
                "uninitizalized or set to {tf.int8}."
            )
        if not dataset and not (trained and options):
            raise ValueError("For full integer quantization, a `representative_dataset` must be specified.")
    if not options - {Optimize.EXPERIMENTAL_SPARSITY}:
        return Mode.FLOAT
    if trained:
        return Mode.INT16 if _INT16 in ops else Mode.INT8
    smallest = min(types, key=lambda t: t.size) if types else dtypes.int8
    if dataset is not None and _INT16 in ops:
        return Mode.INT16
    if dataset is not None and (smallest == dtypes.int8 or OpsSet.TFLITE_BUILTINS_INT8 in ops):
        return Mode.INT8
    if smallest == dtypes.int8:
        return Mode.DYNAMIC
    return Mode.FLOAT16 if smallest.size == 2 and dtypes.float16 in types else Mode.FLOAT


def allows_float(target: Any) -> bool:
    """Whether operations that cannot compute with integers may stay as they are."""
    if {as_dtype(t) for t in target.supported_types} == {dtypes.int8}:
        return False
    return bool({OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS} & set(target.supported_ops))


def check_types(mode: Mode, given: Any, returned: Any) -> None:
    """Raises ValueError for dtypes that the inputs and outputs of a model quantized this way cannot have."""
    allowed = [dtypes.float32]
    if mode is Mode.INT16:
        allowed += [dtypes.int16]
    elif mode is Mode.INT8:
        allowed += [dtypes.int8, dtypes.uint8, dtypes.int16]
    if given in allowed and returned in allowed:
        return
    start = "The inference_input_type and inference_output_type must be"
    if len(allowed) == 1:
        raise ValueError(f"{start} tf.float32.")
    raise ValueError(f"{start} in {['tf.' + t.name for t in allowed]}.")


def samples_of(dataset: Any) -> Any:
    """The iterator over the samples of a representative dataset. Raises ValueError if there is none."""
    function = dataset.input_gen if isinstance(dataset, RepresentativeDataset) else dataset
    if not callable(function):
        raise ValueError(f"A representative dataset must be a function that gives an iterator, not {function!r}")
    return iter(function())


def _refuse(options: set[Any], ops: set[Any], target: Any) -> None:
    refused = {
        "Optimize.EXPERIMENTAL_SPARSITY": Optimize.EXPERIMENTAL_SPARSITY in options,
        "OpsSet.EXPERIMENTAL_STABLEHLO_OPS": OpsSet.EXPERIMENTAL_STABLEHLO_OPS in ops,
        "TargetSpec.experimental_select_user_tf_ops": bool(target.experimental_select_user_tf_ops),
        "TargetSpec.experimental_supported_backends": bool(target.experimental_supported_backends),
    }
    for name, asked in refused.items():
        if asked:
            raise UnimplementedError(None, None, f"tf.lite.{name} is not supported")
