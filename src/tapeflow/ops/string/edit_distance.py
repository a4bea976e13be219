"""The Levenshtein distance between sequences that are the rows of sparse tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InternalError, InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorValue
from tapeflow.ops import shapes
from tapeflow.ops.sparse.conversion import as_sparse
from tapeflow.ops.sparse.parts import grouped, outside, places
from tapeflow.ops.sparse.shapes import elements_and_rank
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall


def _rule(call: ShapeCall):
    for i, kind, name in ((2, "Hypothesis", "hypothesis"), (5, "Truth", "truth")):
        rank = shapes.vector_length(call, i)
        if rank is not None and rank < 2:
            raise invalid(
                f"Input {kind} SparseTensors must have rank at least 2, but {name}_shape rank is: {rank}"
            )
    count = shapes.same_dimension(*(elements_and_rank(call, i)[1] for i in (0, 3)))
    ours, theirs = shapes.vector_value(call, 2), shapes.vector_value(call, 5)
    if ours is not None and theirs is not None:
        return [tuple(max(a, b) for a, b in zip(ours[:-1], theirs[:-1], strict=True))]
    return [None if count is None else (None,) * (count - 1)]


def _check(name: str, indices: Any, values: Any, shape) -> None:
    if indices.ndim != 2:
        raise invalid(
            f"{name}_indices should be a matrix, but got shape: {shape_text(indices.shape)}"
        )
    if values.ndim != 1:
        raise invalid(f"{name}_values should be a vector, but got shape: {shape_text(values.shape)}")
    if shape.ndim != 1:
        raise invalid(f"{name}_shape should be a vector, but got shape: {shape_text(shape.shape)}")
    if len(indices) != len(values):
        raise invalid(
            f"Expected {name}_values.NumElements == #rows({name}_indices), their shapes are: "
            f"{shape_text(values.shape)} and {shape_text(indices.shape)}"
        )
    if indices.shape[1] != shape.size:
        raise invalid(
            f"Expected {name}_shape.NumElements == #cols({name}_indices), their shapes are: "
            f"{shape_text(shape.shape)} and {shape_text(indices.shape)}"
        )


def _rows(indices: Any, values: Any, sizes: Sequence[int]) -> dict[int, list]:
    """The sequences by the number of their row."""
    indices = indices[:, :-1]
    wrong = outside(indices, sizes)
    if wrong is not None:
        steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
        raise InternalError(
            None, None,
            f"Got an inner product {sum(int(i) * step for i, step in zip(indices[wrong], steps, strict=True))} which "
            f"would require writing to outside of the buffer for the output tensor (max elements {math.prod(sizes)})",
        )  # fmt: skip
    rows: dict[int, list] = {}
    numbers, listed = places(indices, sizes), values.tolist()
    firsts = grouped(numbers)[0].tolist()
    for start, end in itertools.pairwise([*firsts, len(listed)]):
        rows.setdefault(int(numbers[start]), []).extend(listed[start:end])
    return rows


def distance(a: list, b: list) -> int:
    """How many insertions, deletions and replacements make `a` into `b`."""
    if not a:
        return len(b)
    # A column of the table of distances at a time, as the bits of an integer: which entries are one more (`up`) or
    # less (`down`) than the one above (Myers 1999, in the form of Hyyro 2003).
    places: dict[Any, int] = {}
    for i, x in enumerate(a):
        places[x] = places.get(x, 0) | 1 << i
    whole = (1 << len(a)) - 1
    last, up, down, found = whole ^ whole >> 1, whole, 0, len(a)
    for y in b:
        same = places.get(y, 0)
        across = same | down
        level = (((same & up) + up) ^ up) | same
        more, less = down | (whole & ~(level | up)), up & level
        found += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & whole, less << 1 & whole
        up, down = less | (whole & ~(across | more)), more & across
    return found


@op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32",
    types={"T": ANY},
    attrs={"normalize": True},
    shape=_rule,
)
def EditDistance(
    xp: ModuleType, hypothesis_indices: Array, hypothesis_values: Array, hypothesis_shape: Array,
    truth_indices: Array, truth_values: Array, truth_shape: Array, normalize: bool,
):
    _check("hypothesis", hypothesis_indices, hypothesis_values, hypothesis_shape)
    _check("truth", truth_indices, truth_values, truth_shape)
    if truth_shape.size < 2:
        raise invalid(f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {truth_shape.size}")
    if truth_shape.shape != hypothesis_shape.shape:
        raise invalid(
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"{shape_text(truth_shape.shape)} and {shape_text(hypothesis_shape.shape)}"
        )
    sizes = tuple(int(n) for n in np.maximum(truth_shape, hypothesis_shape)[:-1])
    if min(sizes) < 0 or math.prod(sizes) >= 2**40:
        raise invalid(f"The result would have shape {shape_text(sizes)}")
    ours = _rows(hypothesis_indices, hypothesis_values, sizes)
    truths = _rows(truth_indices, truth_values, sizes)
    out = np.zeros(math.prod(sizes), np.float32)
    for at in ours.keys() | truths.keys():
        guess, truth = ours.get(at, []), truths.get(at, [])
        steps = distance(guess, truth)
        if normalize:
            out[at] = steps / len(truth) if truth else math.inf
        else:
            out[at] = steps
    return out.reshape(sizes)


EditDistance.gradient(None)
EditDistance.compiled(never="it compares sequences of different lengths")


@EditDistance.samples
def _(rng):
    ours = np.array([[0, 0], [0, 1], [1, 0], [3, 1]]), np.array([1, 2, 3, 4]), np.array([4, 2])
    truth = np.array([[0, 0], [1, 0], [1, 1], [2, 0]]), np.array([1, 3, 4, 4]), np.array([4, 3])
    yield Sample(*ours, *truth, expect=np.float32([1, 0.5, 1, math.inf]))
    yield Sample(*ours, *truth, normalize=False, expect=np.ones(4, np.float32))
    words = np.array([[0, 0], [0, 1]]), np.array(["a", "b"], object), np.array([1, 2])
    yield Sample(*words, words[0], np.array(["a", "c"], object), words[2], expect=np.float32([0.5]))
    yield Sample(*ours, truth[0], truth[1][:3], truth[2], raises=InvalidArgumentError)
    yield Sample(*ours, truth[0], truth[1], np.array([4, 3, 1]), raises=InvalidArgumentError)
    yield Sample(ours[0] + 9, *ours[1:], *truth, raises=InternalError)
    line = np.array([[0], [1]]), np.array([1, 2]), np.array([2])
    yield Sample(*line, *line, raises=InvalidArgumentError)
    cube = np.array([[0, 0, 0]]), np.array([1]), np.array([1, 1, 1])
    yield Sample(*cube, *truth, raises=InvalidArgumentError)


@api("edit_distance")
@tensor_function
@graph_scope("edit_distance")
def edit_distance(hypothesis, truth, normalize: bool = True, name: str | None = "edit_distance"):
    """Count the edits (insert, delete, replace) that make one sequence into another.

    Args:
      hypothesis: a `tf.SparseTensor` of rank 2 at least, whose sequences run along the last dimension.
      truth: another of the same dtype and rank.
      normalize: whether to divide by the length of the truth; the result is infinite where that is empty and the
        hypothesis is not.
      name: a name for the operation (optional).

    Returns:
      A dense float32 tensor without the last dimension.

    Raises:
      TypeError: where one of them is not sparse.
      InvalidArgumentError: for ranks that differ or are below 2.
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor, got {type(value).__name__}")
    ours, truth = as_sparse(hypothesis), as_sparse(truth)
    return EditDistance(
        ours.indices, ours.values, ours.dense_shape, truth.indices, truth.values, truth.dense_shape, normalize
    )
