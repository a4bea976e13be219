"""`tf.compat.v1.lite.TocoConverter`, `toco_convert`: older names of the converter of 1.x."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.public import public, public_methods
from tapeflow.lite.converter_v1 import TFLiteConverter


@public_methods
class TocoConverter:
    """The older name of `tf.compat.v1.lite.TFLiteConverter`, which its methods return."""

    @classmethod
    def from_session(cls, sess, input_tensors, output_tensors):
        """See `TFLiteConverter.from_session`.

        Returns:
          A `TFLiteConverter`.
        """
        return TFLiteConverter.from_session(sess, input_tensors, output_tensors)

    @classmethod
    def from_frozen_graph(cls, graph_def_file, input_arrays, output_arrays, input_shapes=None):
        """See `TFLiteConverter.from_frozen_graph`.

        Returns:
          A `TFLiteConverter`.
        """
        return TFLiteConverter.from_frozen_graph(graph_def_file, input_arrays, output_arrays, input_shapes)

    @classmethod
    def from_saved_model(
        cls, saved_model_dir, input_arrays=None, input_shapes=None, output_arrays=None, tag_set=None,
        signature_key: str | None = None,
    ):
        """See `TFLiteConverter.from_saved_model`.

        Returns:
          A `TFLiteConverter`.
        """
        return TFLiteConverter.from_saved_model(
            saved_model_dir, input_arrays, input_shapes, output_arrays, tag_set, signature_key
        )

    @classmethod
    def from_keras_model_file(cls, model_file, input_arrays=None, input_shapes=None, output_arrays=None):
        """See `TFLiteConverter.from_keras_model_file`.

        Returns:
          A `TFLiteConverter`.
        """
        return TFLiteConverter.from_keras_model_file(model_file, input_arrays, input_shapes, output_arrays)


@public
def toco_convert(input_data, input_tensors, output_tensors, *args, **kwargs):
    """Convert a `GraphDef` without variables to TensorFlow Lite.

    Args:
      input_data: the `GraphDef`.
      input_tensors: list of the tensors that are inputs.
      output_tensors: list of those that are outputs.
      *args: none are supported.
      **kwargs: `allow_custom_ops` and other attributes of `TFLiteConverter`.

    Returns:
      The bytes of a FlatBuffer.

    Raises:
      TypeError: there is no such attribute.
    """
    if args:
        raise TypeError("toco_convert takes its settings by their names")
    converter = TFLiteConverter(input_data, input_tensors, output_tensors)
    for name, value in kwargs.items():
        if name not in vars(converter) or name.startswith("_"):
            raise TypeError(f"toco_convert() got an unexpected keyword argument {name!r}")
        setattr(converter, name, dtypes.as_dtype(value) if name.endswith("_type") and value is not None else value)
    return converter.convert()
