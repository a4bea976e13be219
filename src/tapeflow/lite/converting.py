"""`convert`: concrete functions as the bytes of a model, quantized as the settings of a converter say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public_methods
from tapeflow.lite import interface, modes
from tapeflow.lite.exporting import module_of
from tapeflow.lite.integers import keep_integers
from tapeflow.lite.lowering import ConverterError, Signature, UnsupportedOpsError, flatbuffer
from tapeflow.lite.modes import Mode
from tapeflow.lite.options import TargetSpec
from tapeflow.lite.quantizing import Trained, quantized

_ACTIVATIONS = {Mode.INT8: dtypes.int8, Mode.INT16: dtypes.int16}


@public_methods
class Settings:
    """What the converters of 1.x and 2.x share.

    Attributes:
      optimizations: a set of `tf.lite.Optimize`.
      representative_dataset: samples of the inputs, see `tf.lite.RepresentativeDataset`; None: none.
      target_spec: a `tf.lite.TargetSpec`.
      inference_input_type, inference_output_type: the dtypes of inputs and outputs that are float32: float32, or
        with a representative dataset int8, uint8 or int16.
      allow_custom_ops: whether operations that TensorFlow Lite lacks become custom ones, which a runtime has to know.
    """

    def __init__(self) -> None:
        self.optimizations: Any = set()
        self.representative_dataset: Any = None
        self.target_spec = TargetSpec()
        self.allow_custom_ops = False
        self.inference_input_type: Any = dtypes.float32
        self.inference_output_type: Any = dtypes.float32
        # What 1.x says of models that were trained to be quantized: whether all is to be int8, and ranges.
        self.integers: bool | None = None
        self.ranges = Trained((), {}, None)


def convert(settings: Settings, functions: dict[str, Any]) -> bytes:
    """The model of concrete functions, by the keys of their signatures.

    Raises:
      ConverterError: a function has an operation that TensorFlow Lite lacks, or that cannot compute with integers
        where all have to. The message names it and its line.
      ValueError: the settings contradict each other.
      UnimplementedError: the extra `lite` is not installed, or a setting asks for what is not there.
    """
    given, returned = as_dtype(settings.inference_input_type), as_dtype(settings.inference_output_type)
    custom: list[str] = []
    while True:
        module, signatures = module_of(functions, custom)
        mode = _checked_mode(settings, module.trained)
        try:
            model = flatbuffer(module.text(), signatures)
            break
        except UnsupportedOpsError as error:
            if not settings.allow_custom_ops or set(error.types) <= set(custom):
                raise
            custom += error.types
    known = Trained(module.steps, *settings.ranges[1:]) if module.trained or settings.integers else None
    return _quantized(settings, mode, model, signatures, given, returned, module.place_of_tensor, known)


def convert_lowered(settings: Settings, text: str, signatures: list[Signature]) -> bytes:
    """As `convert`, for a module of StableHLO."""
    given, returned = as_dtype(settings.inference_input_type), as_dtype(settings.inference_output_type)
    mode = _checked_mode(settings)
    model = flatbuffer(text, signatures)
    return _quantized(settings, mode, model, signatures, given, returned, lambda name: None)


def _checked_mode(settings: Settings, trained: bool = False) -> Mode:
    mode = modes.mode_of(settings.optimizations, settings.target_spec, settings.representative_dataset, trained)
    if settings.integers:
        mode = Mode.INT8
    elif settings.integers is False and trained and not settings.representative_dataset:
        mode = Mode.FLOAT
    modes.check_types(mode, as_dtype(settings.inference_input_type), as_dtype(settings.inference_output_type))
    return mode


def _quantized(
    settings: Settings,
    mode: Mode,
    model: bytes,
    signatures: list[Signature],
    given: Any,
    returned: Any,
    place_of: Callable[[str], tuple[str, int] | None],
    known: Trained | None = None,
) -> bytes:
    if mode is Mode.FLOAT:
        return model
    samples = None
    if mode in _ACTIVATIONS and (known is None or settings.representative_dataset):
        samples = modes.samples_of(settings.representative_dataset)
    made = quantized(model, mode, signatures, samples, given, returned, known)
    if mode not in _ACTIVATIONS:
        return made
    opened = interface.unpacked(made)
    keep_integers(opened)
    if not modes.allows_float(settings.target_spec):
        left = [f"{op} ('{name}'{_at(place_of(name))})" for op, name in interface.float_operators(opened)]
        if left:
            raise ConverterError(f"These operations cannot compute with integers only: {', '.join(left)}")
    interface.with_interface(opened, _ACTIVATIONS[mode], given, returned)
    return interface.packed(opened)


def _at(place: tuple[str, int] | None) -> str:
    return "" if place is None else f", defined at {place[0]}:{place[1]}"
