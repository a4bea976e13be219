"""`tf.compat.v1.lite.TFLiteConverter`: graphs and sessions of 1.x."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.function.function import function as compile_function
from tapeflow.function.wrapping import wrap_function
from tapeflow.graph.interchange.freezing import convert_variables_to_constants
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.lite.converting import Settings, convert
from tapeflow.lite.options import Optimize
from tapeflow.lite.quantizing import Trained
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.saved_model.loading import load as load_saved_model

TFLITE, GRAPHVIZ_DOT = 2, 3  # the formats of what `convert` writes
_DEFAULT_KEY = "serving_default"
# Attributes with the only value that is supported.
_FIXED: dict[str, Any] = {
    "output_format": TFLITE, "drop_control_dependency": True, "reorder_across_fake_quant": False,
    "change_concat_input_ranges": False, "dump_graphviz_dir": None, "dump_graphviz_video": False,
    "conversion_summary_dir": None,
}  # fmt: skip
_INTEGERS = (dtypes.int8, dtypes.uint8)


@public_methods
class TFLiteConverter(Settings):
    """Converts graphs of 1.x to TensorFlow Lite. Needs the extra `lite`.

    Attributes: those of the converter of 2.x, and

    - `inference_type`: tf.float32, or for a graph that was trained to be quantized (`tf.contrib.quantize`) tf.int8 or
      tf.uint8: its operations compute with int8 in the ranges that training measured; inputs and outputs have that
      dtype unless `inference_input_type` and `inference_output_type` say otherwise;
    - `quantized_input_stats`: dict of pairs (mean, deviation) by the names of inputs: an integer q of the input stands
      for (q - mean) / deviation;
    - `default_ranges_stats`: a pair, the least and the greatest value of whatever has no range; None: operations on
      such numbers stay float;

    with the only values that are supported, `output_format` (`constants.TFLITE`), `dump_graphviz_dir` and
    `conversion_summary_dir` (None), `dump_graphviz_video`, `reorder_across_fake_quant` and
    `change_concat_input_ranges` (False), `drop_control_dependency` (True). `convert` raises for others.

    Args:
      graph_def: a `GraphDef` without variables.
      input_tensors: list of the tensors that are inputs.
      output_tensors: list of those that are outputs.
      input_arrays_with_shape: pairs of the names of inputs and their shapes, where `input_tensors` is None.
      output_arrays: names of outputs, where `output_tensors` is None.
      experimental_debug_info_func: not used: errors name the lines of the program anyway.
    """

    def __init__(
        self,
        graph_def,
        input_tensors,
        output_tensors,
        input_arrays_with_shape=None,
        output_arrays=None,
        experimental_debug_info_func=None,
    ):
        super().__init__()
        self.__dict__.update(_FIXED)
        self.inference_type = dtypes.float32
        self.quantized_input_stats: dict[str, tuple[float, float]] = {}
        self.default_ranges_stats = None
        self.inference_input_type = self.inference_output_type = None
        self._graph_def = graph_def
        self._shapes: dict[str, Any] = {}
        if input_tensors is not None and output_tensors:
            self._inputs = [_tensor_name(x) for x in input_tensors]
            self._shapes = {_tensor_name(x): x.shape for x in input_tensors}
            self._outputs = [_tensor_name(y) for y in output_tensors]
        else:
            if not input_arrays_with_shape or not output_arrays:
                raise ValueError(
                    "If input_tensors and output_tensors are None, both input_arrays_with_shape and "
                    "output_arrays|control_output_arrays must be defined."
                )
            self._inputs = [name for name, _ in input_arrays_with_shape]
            self._shapes = {name: shape for name, shape in input_arrays_with_shape if shape is not None}
            self._outputs = list(output_arrays)

    @property
    def post_training_quantize(self):
        """Whether weights are quantized; deprecated, use `optimizations`."""
        warnings.warn(
            "Property post_training_quantize is deprecated, please use optimizations=[Optimize.DEFAULT] instead.",
            stacklevel=2,
        )
        return Optimize.DEFAULT in set(self.optimizations)

    @post_training_quantize.setter
    def post_training_quantize(self, value):
        warnings.warn(
            "Property post_training_quantize is deprecated, please use optimizations=[Optimize.DEFAULT] instead.",
            stacklevel=2,
        )
        self.optimizations = [Optimize.DEFAULT] if value else []

    @property
    def target_ops(self):
        """The sets of ops of the target; deprecated, use `target_spec.supported_ops`."""
        warnings.warn(
            "Property target_ops is deprecated, please use target_spec.supported_ops instead.", stacklevel=2
        )
        return self.target_spec.supported_ops

    @target_ops.setter
    def target_ops(self, value):
        warnings.warn(
            "Property target_ops is deprecated, please use target_spec.supported_ops instead.", stacklevel=2
        )
        self.target_spec.supported_ops = value

    @classmethod
    def from_session(cls, sess, input_tensors, output_tensors):
        """A converter of a part of the graph of a session.

        Args:
          sess: a `tf.compat.v1.Session`; its variables become constants.
          input_tensors: list of the tensors that are inputs.
          output_tensors: list of those that are outputs.

        Returns:
          A `TFLiteConverter`.
        """
        names = [_tensor_name(y).partition(":")[0] for y in output_tensors]
        frozen = convert_variables_to_constants(sess, sess.graph.as_graph_def(), names)
        return cls(frozen, input_tensors, output_tensors)

    @classmethod
    def from_frozen_graph(cls, graph_def_file, input_arrays, output_arrays, input_shapes=None):
        """A converter of a file with a `GraphDef`, in bytes or text.

        Args:
          graph_def_file: its path.
          input_arrays: names of the tensors that are inputs.
          output_arrays: names of those that are outputs.
          input_shapes: dict of shapes by the names of inputs (optional).

        Returns:
          A `TFLiteConverter`.

        Raises:
          OSError: there is no such file, or it has no GraphDef.
          ValueError: the graph has variables.
        """
        graph_def = _read_graph(graph_def_file)
        if any(node.op in (VarHandleOp.name, "Variable", "VariableV2") for node in graph_def.node):
            raise ValueError("Please freeze the graph using freeze_graph.py.")
        shapes = input_shapes or {}
        return cls(graph_def, None, None, [(name, shapes.get(name)) for name in input_arrays], output_arrays)

    @classmethod
    def from_saved_model(
        cls, saved_model_dir, input_arrays=None, input_shapes=None, output_arrays=None, tag_set=None, signature_key=None
    ):
        """A converter of a signature of a SavedModel.

        Args:
          saved_model_dir: its folder.
          input_arrays: names of the inputs, all of them (optional).
          input_shapes: dict of shapes by the names of inputs (optional).
          output_arrays: names of the outputs of the signature to keep; by default all.
          tag_set: tags of the graph to load; by default {"serve"}.
          signature_key: of the signature; by default "serving_default".

        Returns:
          A `TFLiteConverter`.

        Raises:
          ValueError: there is no such signature, or it has other inputs or outputs.
          OSError: there is no SavedModel.
        """
        model = load_saved_model(saved_model_dir, {"serve"} if tag_set is None else tag_set)
        key = signature_key or _DEFAULT_KEY
        if key not in model.signatures:
            raise ValueError(
                f"No '{key}' in the SavedModel's SignatureDefs. Possible values are '{','.join(model.signatures)}'."
            )
        return _FunctionConverter(model.signatures[key], model, key, input_arrays, input_shapes, output_arrays)

    @classmethod
    def from_keras_model_file(
        cls, model_file, input_arrays=None, input_shapes=None, output_arrays=None,
        custom_objects: Mapping[str, Any] | None = None,
    ):
        """A converter of a Keras model in a file.

        Args:
          model_file: its path.
          input_arrays: names of the inputs, all of them (optional).
          input_shapes: dict of shapes by the names of inputs (optional).
          output_arrays: names of the outputs to keep, if the model returns a dict; by default all.
          custom_objects: dict of the classes and functions of the model that are the program's own.

        Returns:
          A `TFLiteConverter`.
        """
        from tapeflow.keras.engine.files.model_files import load_model
        from tapeflow.keras.export import (
            inference_function,  # here, as other converters do not need Keras
        )

        model = load_model(model_file, custom_objects=custom_objects)
        function = inference_function(model)
        return _FunctionConverter(function, model, _DEFAULT_KEY, input_arrays, input_shapes, output_arrays)

    def get_input_arrays(self):
        """The names of the inputs.

        Returns:
          A list of strings.
        """
        return [name.removesuffix(":0") for name in self._inputs]

    def convert(self):
        """The model.

        Returns:
          The bytes of a FlatBuffer.

        Raises:
          ConverterError: an operation cannot be converted; the message names it, and its line in the program.
          ValueError: settings contradict each other, or one is not supported.
          UnimplementedError: the extra `lite` is not installed, or a setting is not supported.
        """
        for name, value in _FIXED.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name}={getattr(self, name)!r} is not supported; it must be {value!r}")
        given, returned = self.inference_input_type, self.inference_output_type
        kind = as_dtype(self.inference_type)
        self._use_ranges(kind)
        both = kind if self.integers and not set(self.optimizations) else dtypes.float32
        try:
            self.inference_input_type = given or both
            self.inference_output_type = returned or both
            return convert(self, self._signatures())
        finally:
            self.inference_input_type, self.inference_output_type = given, returned

    def _use_ranges(self, kind: Any) -> None:
        """Reads the settings of graphs that were trained to be quantized; `kind` is the inference type."""
        if kind not in (dtypes.float32, *_INTEGERS):
            raise ValueError(f"inference_type={kind!r} is not supported; it must be float32, int8 or uint8")
        self.integers = kind in _INTEGERS
        stats = self.quantized_input_stats or {}
        wanted = self.integers or self.inference_input_type in _INTEGERS
        if wanted and not stats and self.representative_dataset is None:
            raise ValueError(
                "The `quantized_input_stats` flag must be defined when either `inference_type` flag or "
                "`inference_input_type` flag is set to tf.int8 or tf.uint8. Currently, "
                f"`inference_type={_type_name(kind)}` and "
                f"`inference_input_type={_type_name(self.inference_input_type)}`."
            )
        lacking = [name for name in self.get_input_arrays() if name not in stats] if stats else []
        if lacking:
            raise ValueError(f"Quantization input stats are not available for input tensors '{','.join(lacking)}'.")
        limits = dtypes.uint8 if (self.inference_input_type or kind) == dtypes.uint8 else dtypes.int8
        ranges = {
            name: ((limits.min - mean) / deviation, (limits.max - mean) / deviation)
            for name, (mean, deviation) in stats.items()
        }
        self.ranges = Trained((), ranges, self.default_ranges_stats)

    def _signatures(self) -> dict[str, Any]:
        graph_def, shapes = self._graph_def, self._shapes
        whole = wrap_function(lambda: import_graph_def(graph_def, name=""), [])
        for name, shape in shapes.items():
            whole.graph.get_tensor_by_name(_with_index(name)).set_shape(shape)
        inputs = [whole.graph.get_tensor_by_name(_with_index(name)) for name in self._inputs]
        outputs = [whole.graph.get_tensor_by_name(_with_index(name)) for name in self._outputs]
        return {_DEFAULT_KEY: whole.prune(inputs, outputs)}


class _FunctionConverter(TFLiteConverter):
    """Of a function with named inputs and outputs."""

    def __init__(self, function, held, key, inputs, shapes, outputs):
        given = function.inputs[: len(function.inputs) - len(function.captured_inputs)]
        names = [x.op.name for x in given]
        super().__init__(None, None, None, [(name, None) for name in names], outputs or ["outputs"])
        unknown = set(inputs or names) ^ set(names) | set(shapes or ()) - set(names)
        if unknown:
            raise ValueError(f"Invalid tensors '{','.join(sorted(unknown))}' were found.")
        self._function, self._held, self._key, self._wanted = function, held, key, outputs
        self._specs = [TensorSpec((shapes or {}).get(x.op.name, x.shape), x.dtype, x.op.name) for x in given]

    def _signatures(self) -> dict[str, Any]:
        def run(*args):
            results = self._function.call_flat(list(args))
            if self._wanted is None:
                return results
            missing = set(self._wanted) - set(results if isinstance(results, dict) else ())
            if missing:
                raise ValueError(f"Invalid tensors '{','.join(sorted(missing))}' were found.")
            return {name: results[name] for name in self._wanted}

        return {self._key: compile_function(run, autograph=False).get_concrete_function(*self._specs)}


def _type_name(dtype: DTypeLike) -> str:
    return "None" if dtype is None else f"tf.{as_dtype(dtype).name}"


def _tensor_name(x: Any) -> str:
    return x if isinstance(x, str) else x.name


def _with_index(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _read_graph(path: Any) -> Any:
    if not Path(path).exists():
        raise OSError(f"File '{path}' does not exist.")
    data = Path(path).read_bytes()
    graph_def = protos.GraphDef()
    try:
        graph_def.ParseFromString(data)
    except DecodeError:
        try:
            text_format.Parse(data.decode(), graph_def)
        except (text_format.ParseError, UnicodeDecodeError):
            raise OSError(f"Unable to parse input file '{path}'.") from None
    return graph_def
