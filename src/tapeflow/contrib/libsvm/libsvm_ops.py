"""Lines of LIBSVM's text format, `label index:value index:value ...`, as sparse features."""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

__all__ = ["decode_libsvm"]

_NUMBERS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_INTEGER = re.compile(rb"[+-]?\d+")
_NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|nan)")


def _value(text: bytes, kind: Any, message: str) -> Any:
    form = _INTEGER if np.dtype(kind).kind == "i" else _NUMBER
    if form.fullmatch(text):
        value = int(text) if form is _INTEGER else float(text)
        if form is not _INTEGER or np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            return value
    raise invalid(message)


def _line(line: bytes, number: int, kind: Any, label_kind: Any) -> tuple[Any, list[tuple[int, Any]]]:
    """The label of a line, and the (index, value) of its features."""
    parts = line.split()
    if not parts:
        raise invalid(f'No label found for input[{number}]: "{line.decode(errors="replace")}"')
    label = _value(parts[0], label_kind, f"Label format incorrect: {parts[0].decode(errors='replace')}")
    features = []
    for part in parts[1:]:
        shown = part.decode(errors="replace")
        name, colon, text = part.partition(b":")
        if not colon:
            raise invalid(f'Invalid feature "{shown}"')
        index = _value(name, np.int64, f"Feature format incorrect: {shown}")
        if index < 0:
            raise invalid(f"Feature index should be >= 0, got {index}")
        features.append((index, _value(text, kind, f"Feature format incorrect: {shown}")))
    return label, features


def _shapes(call: Any) -> list[Any]:
    lines = call.shape(0)
    width = None if lines is None else len(lines) + 1
    return [lines, (None, width), (None,), (width,)]


@op("DecodeLibsvm",
    "input: string -> label: label_dtype, feature_indices: int64, feature_values: dtype, feature_shape: int64",
    attrs={"dtype": dtype(dtypes.float32), "label_dtype": dtype(dtypes.int64), "num_features": integer},
    shape=_shapes, only_here="TensorFlow had the op, and has removed it")  # fmt: skip
def DecodeLibsvm(xp: ModuleType, input: Array, dtype: DTypeLike, label_dtype: Any, num_features: int):
    """The labels of lines, and the parts of a sparse tensor of their features."""
    if num_features < 1:
        raise invalid(f"Invalid number of features \"{num_features}\"")
    kind, label_kind = (dtypes.as_dtype(each).as_numpy_dtype for each in (dtype, label_dtype))
    lines = [_line(line, i, kind, label_kind) for i, line in enumerate(input.ravel().tolist())]
    labels = np.array([label for label, _ in lines], label_kind).reshape(input.shape)
    features = [(i, *feature) for i, (_, of_line) in enumerate(lines) for feature in of_line]
    places = np.unravel_index([i for i, _, _ in features], input.shape) if features and input.ndim else ()
    indices = np.array([*places, [index for _, index, _ in features]], np.int64).T.reshape(-1, input.ndim + 1)
    values = np.array([value for _, _, value in features], kind)
    return labels, indices, values, np.array([*input.shape, num_features], np.int64)


DecodeLibsvm.gradient(None)


@DecodeLibsvm.samples
def _(rng: SampleGenerator):
    lines = np.array([b"1 1:3.4 2:0.5 4:0.231", b"1 2:2.5 0:1.25 1:-3", b"-7"], object)
    places = [[0, 1], [0, 2], [0, 4], [1, 2], [1, 0], [1, 1]]
    values = np.array([3.4, 0.5, 0.231, 2.5, 1.25, -3], np.float32)
    expected = [np.array([1, 1, -7]), np.array(places), values, np.array([3, 6])]
    yield Sample(lines, num_features=6, expect=expected)
    yield Sample(lines.reshape(3, 1), num_features=0, raises=InvalidArgumentError)
    for line in (b"", b"x 1:2", b"1 2", b"1 -1:2", b"1 a:2", b"1 1:b"):
        yield Sample(np.array([line], object), num_features=6, raises=InvalidArgumentError)


def decode_libsvm(
    content: TensorLike, num_features: int, dtype: DTypeLike | None = None, label_dtype: DTypeLike | None = None
):
    """Lines of LIBSVM's format as features and labels.

    Args:
      content: strings, each a line.
      num_features: how many features there are.
      dtype: of the features, by default float32.
      label_dtype: of the labels, by default int64.

    Returns:
      A SparseTensor of the shape `[*content.shape, num_features]`, and the labels, of the shape of `content`.
    """
    labels, indices, values, shape = DecodeLibsvm(
        convert_to_tensor(content, dtypes.string), num_features=num_features,
        dtype=dtypes.as_dtype(dtype or dtypes.float32), label_dtype=dtypes.as_dtype(label_dtype or dtypes.int64),
    )  # fmt: skip
    return SparseTensor(indices, values, shape), labels
