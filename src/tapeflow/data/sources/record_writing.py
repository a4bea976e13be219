"""`tf.data.experimental.TFRecordWriter`: a dataset of strings as a TFRecord file."""

from __future__ import annotations

from tapeflow.core import context, dtypes
from tapeflow.core.files.tf_record import TFRecordWriter as FileWriter
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.dataset import Dataset
from tapeflow.data.dataset_class import with_inputs
from tapeflow.data.parts import parts_of
from tapeflow.data.sources.records import text_of
from tapeflow.graph.nodes import python_ops


class TFRecordWriter:
    """Writes the string elements of a dataset as a TFRecord file.

    Args:
      filename: the file.
      compression_type: "" (or None), "ZLIB" or "GZIP".
    """

    def __init__(self, filename: str, compression_type: str | None = None):
        self._filename = filename
        self._compression = compression_type

    def write(self, dataset: Dataset):
        """Writes the elements, all of them; in a graph, returns the operation that does.

        Raises TypeError for anything but a dataset of scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string or spec.shape.rank not in (0, None):
            raise TypeError(
                f"Invalid `dataset`. Expected a dataset of scalar `tf.string` elements, but its elements are {spec}."
            )
        symbolic = hasattr(self._filename, "dtype") and not hasattr(self._filename, "numpy")

        def run(*values):
            name, values = (values[0], values[1:]) if symbolic else (self._filename, values)
            with FileWriter(text_of(name), text_of(self._compression)) as file:
                for value in parts_of(with_inputs(dataset, values)).start():
                    file.write(value.numpy())
            return []

        inputs = [self._filename] if symbolic else []
        if context.executing_eagerly():
            run()
            return None
        return python_ops.node("PyFunc", run, [*inputs, *parts_of(dataset).captured], (), "DatasetToTFRecord")


boundaries(globals())
