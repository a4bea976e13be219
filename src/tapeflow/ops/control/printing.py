"""`tf.print`: tensors and structures of them as text, on a stream, a log or a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.log import get_logger
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control import staging
from tapeflow.ops.static import concrete_value

_LEVELS = {"info", "warning", "error"}
# By their numbers in Python's log, and in Abseil's.
_NUMBERED_LEVELS = {20: "info", 30: "warning", 40: "error", 0: "info", -1: "warning", -2: "error"}


def _number(v) -> str:
    """A number with as few digits as give it back: 6 or 9 for single precision, 15 or 17 for double."""
    if isinstance(v, (bool, np.bool_)):
        return str(int(v))
    if isinstance(v, bytes):
        text = v.decode("utf-8", "backslashreplace")
        return (
            '"'
            + text.replace("\\", "\\\\")
            .replace('"', '\\"')
            .replace("\n", "\\n")
            .replace("\t", "\\t")
            + '"'
        )
    if isinstance(v, (complex, np.complexfloating)):
        kind = np.float32 if isinstance(v, np.complex64) else np.float64
        return f"({_number(kind(v.real))},{_number(kind(v.imag))})"
    if isinstance(v, (int, np.integer)) or np.dtype(type(v)).kind in "iu":
        return str(int(v))
    double = isinstance(v, (float, np.float64))
    value = float(v)
    short = f"{value:.{15 if double else 6}g}"
    same = float(short) == value if double else np.float32(short) == np.float32(value)
    return short if same or value != value else f"{value:.{17 if double else 9}g}"


def tensor_text(value: np.ndarray, summarize: int = 3) -> str:
    """An array as `tf.print` shows it: the first and last `summarize` of each dimension (-1: all)."""
    if value.ndim and not len(value):
        return "[]"
    if not summarize or not value.size:
        return "[" + _gap(value.ndim, 0) + "...]" if value.ndim else "..."
    if value.ndim == 0:
        return _number(value[()])
    return _block(value, summarize, value.ndim, 0)


def _block(value, summarize: int, rank: int, depth: int) -> str:
    if depth == rank:
        return _number(value)
    count = len(value)
    gap = _gap(rank, depth)
    if summarize < 0 or count <= 2 * summarize:
        shown = [_block(v, summarize, rank, depth + 1) for v in value]
    else:
        shown = [_block(v, summarize, rank, depth + 1) for v in value[:summarize]]
        shown.append("...")
        shown += [_block(v, summarize, rank, depth + 1) for v in value[count - summarize :]]
    return "[" + gap.join(shown) + "]"


def _gap(rank: int, depth: int) -> str:
    """What stands between the parts of a dimension."""
    return " " if depth == rank - 1 else "\n" * (rank - depth - 1) + " " * (depth + 1)


class _Text(str):
    """Text that shows itself without quotes inside of a structure."""

    def __repr__(self):
        return str(self)


# How values made of several tensors are shown, by their types: see `register_text`.
_composites: dict[type, Callable[[Any, int, Any], str]] = {}


def register_text(kind: type, text: Callable[[Any, int, Any], str]) -> None:
    """Let `tf.print` show values of type `kind` as `text(value, summarize, show)`.

    `show(tensor)` is the text of a tensor; `show(tensor, True)` that of a scalar string as it is, without quotes.
    """
    _composites[kind] = text


def _sparse_text(x: SparseTensor, summarize: int, show: Callable[..., str]) -> str:
    indices, values, shape = map(show, (x.indices, x.values, x.dense_shape))
    return f"'SparseTensor(indices={indices}, values={values}, shape={shape})'"


register_text(SparseTensor, _sparse_text)


def _is_tensor(x: Tensor) -> bool:
    return isinstance(x, Tensor) or (hasattr(x, "dtype") and hasattr(x, "numpy"))


def _text(x: Tensor | str, summarize: int, show: Callable[..., str]) -> str:
    if isinstance(x, str):
        return x
    if type(x) in _composites:
        return _composites[type(x)](x, summarize, show)
    if _is_tensor(x):
        return show(x)
    if not nest.is_nested(x):
        return (
            repr(x) if not hasattr(x, "as_numpy_dtype") or isinstance(x, type) else f"tf.{x.name}"
        )
    leaves = [
        _Text(_text(v, summarize, show)) if _is_tensor(v) or type(v) in _composites else v
        for v in nest.flatten(x)
    ]
    packed = nest.pack_sequence_as(x, leaves)
    if isinstance(packed, dict):
        packed = {key: packed[key] for key in sorted(packed)}
    return repr(packed)


def raw_text(value: Tensor) -> str:
    """A scalar string as it is."""
    return bytes(concrete_value(value).item()).decode("utf-8", "replace")


class Template:
    """Text of objects with places for what is known when a graph runs.

    Attributes:
      pieces: the text between the places, one more than these.
      tensors: what stands in each place.
      raw: whether it is shown as it is: a scalar string without quotes.
    """

    def __init__(self, inputs: Any, sep: str, summarize: int):
        shown: list[tuple[Any, bool]] = []

        def show(tensor: Any, raw: bool = False) -> str:
            shown.append((tensor, raw))
            return f"\0{len(shown) - 1}\0"

        text = sep.join(_text(x, summarize, show) for x in inputs)
        parts = re.split("\0([0-9]+)\0", text) if shown else [text]
        self.pieces = parts[::2]
        self.tensors = [shown[int(i)][0] for i in parts[1::2]]
        self.raw = [shown[int(i)][1] for i in parts[1::2]]
        self.summarize = summarize


@api("print")
@public
def print_(*inputs, **kwargs):
    """Print tensors, structures of tensors and other objects.

    Args:
      *inputs: what to print.
      **kwargs: `output_stream`: `sys.stderr` (the default), `sys.stdout`, another text stream, "file://path", or a
        function or level of the log; `summarize`: how many elements at each end of a dimension are shown (3; -1:
        all); `sep`: what stands between the inputs (a space); `end`: what is written after them (a new line);
        `name`.

    Returns:
      None in eager execution; in a graph the operation that prints.

    Raises:
      ValueError: for other keywords and streams.

    >>> import sys
    >>> tf.print("x =", tf.range(10), output_stream=sys.stdout)
    x = [0 1 2 ... 7 8 9]
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    summarize = 3 if summarize is None else int(summarize)
    end = "\n" if end is None else end

    # A string that is printed alone is printed as it is.
    first = inputs[0] if len(inputs) == 1 else None
    alone = isinstance(first, Tensor) and first.dtype == dtypes.string and first.shape.rank == 0

    if staging.staged(*nest.flatten(inputs, expand_composites=True)):
        _check_stream(stream)
        text = first if alone else staging.nodes.text(Template(inputs, sep, summarize))
        return staging.nodes.print(text, _stream_name(stream), end, name)

    def shown(tensor: Any, raw: bool = False) -> str:
        return raw_text(tensor) if raw else tensor_text(concrete_value(tensor), summarize)

    text = raw_text(first) if alone else sep.join(_text(x, summarize, shown) for x in inputs)
    return write_text(stream, text, end)


def write_text(stream: Any, text: str, end: str) -> None:
    """Writes to a stream as `tf.print` takes it, or to one that `_stream_name` names."""
    if stream in ("stderr", "stdout"):
        stream = getattr(sys, stream)
    _check_stream(stream)
    if _is_file(stream):
        with open(stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(text + end)
    elif _level(stream):
        getattr(get_logger(), _level(stream))("%s", text)
    else:
        stream.write(text + end)
        stream.flush()


def _stream_name(stream) -> Any:
    """The name of a stream in nodes; the stream itself if it has none."""
    if isinstance(stream, str) and _is_file(stream):
        return stream
    if _level(stream):
        return f"log({_level(stream)})"
    standard = {"stderr": (sys.stderr, sys.__stderr__), "stdout": (sys.stdout, sys.__stdout__)}
    return next((name for name, streams in standard.items() if any(stream is s for s in streams)), stream)


def _is_file(stream) -> bool:
    return isinstance(stream, str) and stream.startswith("file://")


def _level(stream) -> str:
    """The level of the log that `stream` names, "" for none."""
    if isinstance(stream, int):
        return _NUMBERED_LEVELS.get(stream, "")
    level = stream if isinstance(stream, str) else getattr(stream, "__name__", None)
    if isinstance(level, str):
        level = level.removeprefix("log(").removesuffix(")")
    return level if level in _LEVELS else ""


def is_named(stream: str) -> bool:
    """Whether a string names a file or a level of the log."""
    return isinstance(stream, str) and (_is_file(stream) or bool(_level(stream)))


def _check_stream(stream) -> None:
    if not (_is_file(stream) or _level(stream) or hasattr(stream, "write")):
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
            "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be "
            "in the form of 'file://<filepath>'."
        )


@api(v1="Print")
@public
def Print(input_: Any, data, message=None, first_n: Any = None, summarize: Any = None, name: str | None = None):
    """`tf.Print` of 1.x: `input_`, after printing `message` and the tensors in `data` to standard error."""
    shown = 3 if summarize is None else summarize
    if staging.staged(input_, *data):
        limit = -1 if first_n is None else first_n
        return staging.nodes.print_beside(input_, data, message or "", limit, shown, name)
    if first_n is None or first_n != 0:
        write_text(sys.stderr, values_text(data, message or "", shown), "\n")
    return Identity(input_)


def values_text(data, message: str, summarize: int) -> str:
    """What `tf.Print` prints."""
    parts = []
    for x in data:
        flat = concrete_value(convert_to_tensor(x)).ravel()
        limit = flat.size if summarize < 0 else min(summarize, flat.size)
        words = [_number(v).strip('"') for v in flat[:limit]] + ["..."] * (limit < flat.size)
        parts.append("[" + " ".join(words) + "]")
    return message + "".join(parts)
