"""Ragged tensors as text: for `tf.print` and `tf.strings.format`, and for their `repr`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.control import printing as output
from tapeflow.ops.control import staging
from tapeflow.ops.ragged.tensor import RaggedTensor
from tapeflow.ops.ragged.value import rows_as_array
from tapeflow.ops.static import concrete_value


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return f"'{value.decode(errors='replace')}'"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"({value.real:f},{value.imag:f})"
    return f"{float(value):f}"


def _of_list(value: Any, summarize: int) -> str:
    if not isinstance(value, list):
        return _element(value)
    if summarize >= 0 and len(value) > 2 * summarize:
        first = [_of_list(v, summarize) for v in value[:summarize]]
        last = [_of_list(v, summarize) for v in value[len(value) - summarize :]]
        return f"[{', '.join([*first, '...', *last])}]"
    return f"[{', '.join(_of_list(v, summarize) for v in value)}]"


def _nested(flat: np.ndarray, splits: list[np.ndarray]) -> list[Any]:
    out = flat.tolist()
    for split in splits[::-1]:
        out = [out[a:b] for a, b in itertools.pairwise(split)]
    return out


def ragged_text(ragged: RaggedTensor, summarize: int = 3) -> Any:
    """The text of a ragged tensor as a string tensor: rows in brackets, of long ones the first and last elements."""

    def text(flat: Sequence[Any], *splits):
        rows = _nested(concrete_value(flat), [concrete_value(s) for s in splits])
        return _of_list(rows, 3 if summarize is None else summarize)

    parts = nest.flatten(ragged, expand_composites=True)
    if staging.staged(*parts):
        return staging.nodes.py_function(text, parts, dtypes.string, None)
    return convert_to_tensor(text(*parts))


def repr_text(value: Any) -> str:
    """The rows, arrays of arrays, as NumPy writes them, with commas between the elements."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size:
        return repr(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": repr_text})


def eager_repr(ragged: RaggedTensor) -> str:
    """`repr` of a ragged tensor whose values are there."""
    with np.printoptions(formatter={"all": repr_text}) as options:
        rows, edge = len(ragged.row_splits.numpy()) - 1, options["edgeitems"]
        few = rows <= max(options["threshold"], 2 * edge)
        seen = None if few else [*range(edge), *range(rows - edge, rows)]  # the others are left out
        made = rows_as_array(ragged.values.numpy(), ragged.row_splits.numpy(), seen)
        return f"<tf.RaggedTensor {repr_text(made)}>"


def _shown(ragged: RaggedTensor, summarize: int, show: Any) -> str:
    return show(ragged_text(ragged, summarize), True)


output.register_text(RaggedTensor, _shown)
