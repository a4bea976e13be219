"""Every row that changes a variable in place, with inputs for a call of it: found by trying, not by a list of names."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

import tapeflow as tf
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.ops.signature import Kind, dtype
from tapeflow.ops.table import INDEX, REGISTRY

load_all_rows()

ROWS, COLUMNS = 96, 64
INDEX_DTYPES = {int(t) for t in INDEX}


class Case(NamedTuple):
    """A call of a row that changes its variables.

    Args:
      starts: the variables' values to begin with.
      inputs: the inputs in order, `_Variables` where variables belong.
    """

    row: Any
    starts: tuple[np.ndarray, ...]
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]

    def variables(self) -> list[Any]:
        return [tf.Variable(x) for x in self.starts]

    def call(self, variables: list[Any], call: Any = None) -> None:
        """The row, or `call` of it, on these variables or handles of them."""
        given = iter(variables)
        inputs = []
        for x in self.inputs:
            if isinstance(x, _Variables):
                inputs.append(next(given) if x.n == 0 else [next(given) for _ in range(x.n)])
            else:
                inputs.append(x)
        (call or self.row)(*inputs, **self.attrs)


class _Variables(NamedTuple):
    """In place of an input: a list of n variables, or one if that is 0."""

    n: int


def _start(shape: tuple[int, ...], kind: Any) -> np.ndarray:
    numbers = np.random.default_rng(3).integers(1, 7, shape)
    return numbers.astype(tf.as_dtype(kind).as_numpy_dtype)


def _attrs(row: Any, kind: Any) -> dict[str, Any]:
    """Values for the attrs that must be given."""
    given = {}
    for name, attr in row.attrs.items():
        if isinstance(attr, Kind) and attr.required:
            given[name] = tf.as_dtype(kind) if attr.number == dtype.number else 1 << 30
    return given


def _parts(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Shapes that an input besides scalars and indices may have."""
    return [shape, (len(range(0, shape[0], 2)), *shape[1:])] if shape else []


def _indices(shape: tuple[int, ...]) -> list[np.ndarray]:
    if not shape:
        return []
    some = np.arange(0, shape[0], 2, dtype=np.int32)
    return [some, some[:, None]]


def _candidates(row: Any, kind: Any, shape: tuple[int, ...]):
    """Calls of which one may be right: variables of one shape, scalars, and at most one input that is no scalar."""
    signature = row.schema.inputs
    attrs = _attrs(row, kind)
    indexes = [a for a in signature if {int(t) for t in row.types.get(a.type, ())} == INDEX_DTYPES]
    numbers = [a for a in signature if a.type != "resource" and a not in indexes]
    lists = [a for a in signature if a.type == "resource" and a.is_list]
    larger: list[Any] = [(None, ()), *itertools.product(numbers, _parts(shape))]
    # Several index inputs are a slice: where it begins and ends, and its strides.
    picks = [[np.full(1, i, np.int32) for i in (0, 5, 1)]] if len(indexes) > 1 else [[x] for x in _indices(shape)]
    for n, (large, size), picked in itertools.product(
        range(1, 5) if lists else [0], larger, picks if indexes else [[]]
    ):
        given = iter(picked)
        inputs: list[Any] = []
        for a in signature:
            if a.type == "resource":
                inputs.append(_Variables(n if a.is_list else 0))
            elif a in indexes:
                inputs.append(next(given))
            else:
                fixed = a.type not in row.types and a.type not in row.attrs
                value = _start(size if a is large else (), a.type if fixed else kind)
                inputs.append([value] if a.is_list else value)
        count = sum(x.n or 1 for x in inputs if isinstance(x, _Variables))
        yield Case(row, tuple(_start(shape, kind) for _ in range(count)), tuple(inputs), attrs)


def _changes(case: Case) -> bool:
    variables = case.variables()
    try:
        tf.function(lambda: case.call(variables)).get_concrete_function()  # graphs refuse more
        case.call(variables)
    except Exception:
        return False
    return any(v.numpy().tobytes() != x.tobytes() for v, x in zip(variables, case.starts, strict=True))


@functools.cache
def found(kind: str) -> dict[str, Case]:
    """Cases by the names of their rows, of all rows that change variables of this dtype."""
    cases = {}
    for name, row in sorted(REGISTRY.items()):
        if not row.stateful or not any(a.type == "resource" for a in row.schema.inputs):
            continue
        for shape in ((ROWS, COLUMNS), (3,), ()):
            try:
                case = next((c for c in _candidates(row, kind, shape) if _changes(c)), None)
            except (TypeError, ValueError):  # an input of a dtype without numbers
                break
            if case is not None:
                cases[name] = case
                break
    return cases
