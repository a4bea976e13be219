"""What is known of the three tensors that make up a sparse one, for shape rules."""

from __future__ import annotations

from typing import Any

from tapeflow.ops import shapes


def elements_and_rank(call: Any, i: int) -> tuple[int | None, int | None]:
    """How many elements the sparse tensor of the inputs from `i` on has, and its rank: indices, values, shape."""
    indices = shapes.with_rank(call.shape(i), 2)
    values, shape = (shapes.vector_length(call, k) for k in (i + 1, i + 2))
    return shapes.same_dimension(indices[0], values), shapes.same_dimension(indices[1], shape)


def of_rank(rank: int | None) -> list[shapes.Shape]:
    """The parts of a sparse result of which nothing but the rank may be known."""
    return [(None, rank), (None,), (rank,)]
