"""Models quantized after training, by PyPI's ai-edge-quantizer."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.lite import interface, trained
from tapeflow.lite.importing import load
from tapeflow.lite.lowering import Signature
from tapeflow.lite.modes import Mode

# The names of tensors in functions of branches and loops, of which samples show no ranges.
INNER = r"^(branch|body|cond)_\d+"
# Smaller weights stay float: they save nothing.
_FEWEST_ELEMENTS = 1024


class Trained(NamedTuple):
    """What is known of a model that was trained to be quantized.

    Attributes:
      steps: of the roundings of constants.
      inputs: the least and the greatest value, by the names of inputs.
      default: those of tensors whose range is not known; None: such operations stay float.
    """

    steps: Iterable[float]
    inputs: dict[str, tuple[float, float]]
    default: tuple[float, float] | None


def quantized(
    model: bytes,
    mode: Mode,
    signatures: Sequence[Signature],
    samples: Iterable[Any] | None,
    given: Any,
    returned: Any,
    known: Trained | None = None,
) -> bytes:
    """The model, quantized.

    Args:
      samples: of the inputs, as `tf.lite.RepresentativeDataset` gives them; read in the modes of integers. None: the
        ranges are those of `known` alone.
      given, returned: the dtypes of inputs and outputs that are float32 in the model: float32, or in the modes of
        integers that of the activations.
      known: of a model that was trained to be quantized; its ranges take precedence over those of samples.

    Raises:
      ValueError: a sample is not one of the inputs, or there is none; or the range of an input or output that is to
        have integers is not known.
      UnimplementedError: ai-edge-quantizer is not installed.
    """
    if known is None:
        return _quantized(model, mode, signatures, samples, given, returned, {}, [])
    listed = None if samples is None else list(samples)
    bits, kept = 8 if mode is Mode.INT8 else 16, set[str]()
    while True:
        plain, taken, ranges, left_float = _trained_ranges(model, signatures, known, bits, kept)
        if listed is None:
            trained.check_ends(plain, ranges, given != dtypes.float32, returned != dtypes.float32)
            if not ranges:
                return plain
        made = _quantized(plain, mode, signatures, listed, given, returned, ranges, left_float)
        lost = trained.without_integers(made, taken)
        if not lost:
            return made
        kept |= lost  # only floats were rounded there: that stays as it is


def _quantized(
    model: bytes,
    mode: Mode,
    signatures: Sequence[Signature],
    samples: Iterable[Any] | None,
    given: Any,
    returned: Any,
    ranges: trained.Ranges,
    left_float: Sequence[str],
) -> bytes:
    """As `quantized`, for known ranges and patterns of the operators that stay float."""
    api = load("ai_edge_quantizer.quantizer")
    calibrator = load("ai_edge_quantizer.calibrator")
    types = load("ai_edge_quantizer.qtyping")
    names = load("ai_edge_quantizer.algorithm_manager").AlgorithmName
    every = types.TFLOperationName.ALL_SUPPORTED
    calibration: Any = {}
    with _silent():
        quantizer = api.Quantizer(bytearray(model))
        if mode is Mode.DYNAMIC:
            config = types.OpQuantizationConfig(
                weight_tensor_config=types.TensorQuantizationConfig(
                    8, symmetric=True, granularity=types.QuantGranularity.CHANNELWISE
                ),
                compute_precision=types.ComputePrecision.INTEGER,
                min_weight_elements=_FEWEST_ELEMENTS,
            )
            quantizer.update_quantization_recipe(".*", every, config)
        elif mode is Mode.FLOAT16:
            config = types.OpQuantizationConfig(
                weight_tensor_config=types.TensorQuantizationConfig(16, dtype=types.TensorDataType.FLOAT),
                explicit_dequantize=True,
            )
            quantizer.update_quantization_recipe(".*", every, config, names.FLOAT_CASTING)
        else:
            quantizer.add_static_config(".*", every, 8 if mode is Mode.INT8 else 16, 8)
            quantizer.update_quantization_recipe(INNER, every, algorithm_key=names.NO_QUANTIZE)
            for end, dtype in ((types.TFLOperationName.INPUT, given), (types.TFLOperationName.OUTPUT, returned)):
                if dtype == dtypes.float32:
                    quantizer.update_quantization_recipe(".*", end, algorithm_key=names.NO_QUANTIZE)
            if samples is not None:
                way = calibrator.CalibrationMode.CALIBRATION_PROFILER_BASED
                calibration = quantizer.calibrate(by_signature(samples, signatures), num_threads=1, mode=way)
            else:
                for pattern in left_float:
                    quantizer.update_quantization_recipe(pattern, every, algorithm_key=names.NO_QUANTIZE)
        return bytes(quantizer.quantize({**calibration, **ranges} or None).quantized_model)


def _trained_ranges(
    model: bytes, signatures: Sequence[Signature], known: Trained, most_bits: int, kept: set[str]
) -> tuple[bytes, set[str], trained.Ranges, list[str]]:
    """The model without its roundings, what they rounded, the ranges, and patterns of the operators that lack some.

    `kept` names the tensors whose rounding stays.
    """
    opened = interface.unpacked(model)
    taken, ranges = trained.take_ranges(opened, known.steps, most_bits, kept)
    for each in signatures:
        for name in set(each.inputs) & set(known.inputs):
            ranges[f"{each.key}_{name}:0"] = trained.ends(*known.inputs[name])
    if known.default is not None:
        trained.fill_ranges(opened, ranges, known.default)
    return interface.packed(opened), taken, ranges, trained.without_range(opened, ranges)


def by_signature(samples: Iterable[Any], signatures: Sequence[Signature]) -> dict[str, list[dict[str, np.ndarray]]]:
    """Samples, by the keys of signatures, as dicts by the names of inputs.

    Raises ValueError for a sample that is not one of the inputs, and if there are no samples of a signature.
    """
    known = {each.key: each for each in signatures}
    found: dict[str, list[dict[str, np.ndarray]]] = {each.key: [] for each in signatures}
    for sample in samples:
        key, values = next(iter(known)), sample
        if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
            key, values = sample
        if key not in known:
            raise ValueError(f"A sample is of the signature {key!r}; there are: {', '.join(known)}")
        inputs = known[key].inputs
        if not isinstance(values, dict):
            values = values if isinstance(values, (list, tuple)) else [values]
            if len(values) != len(inputs):
                raise ValueError(f"A sample has {len(values)} inputs, the signature {key!r} has {len(inputs)}")
            values = dict(zip(inputs, values, strict=True))
        if set(values) != set(inputs):
            raise ValueError(f"A sample has the inputs {sorted(values)}, the signature {key!r} has {sorted(inputs)}")
        found[key].append({name: np.asarray(x) for name, x in values.items()})
    for key, listed in found.items():
        if not listed:
            raise ValueError(f"The representative dataset has no samples of the signature {key!r}")
    return found


@contextlib.contextmanager
def _silent() -> Any:
    """Keeps what the quantizer prints and logs of its progress to itself."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                yield
    finally:
        logging.disable(before)
