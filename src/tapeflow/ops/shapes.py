"""Shape rules: from what is known about the inputs of a call to what is known about its outputs.

A rule is a function of a call and returns one shape for each output. A shape is a tuple in which None
stands for an unknown dimension; None in place of the tuple says that not even the rank is known.
`call.shape(i)` is the shape of input i (list inputs are flattened), `call.value(i)` its value where it
is a known constant, else None, `call.attr(name)` an attr and `call.count` the number of inputs.

Rules never run eagerly: kernels check what they are given. They only raise where a graph under
construction can be known to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError

Shape = tuple[int | None, ...] | None
Rule = Callable[[Any], list[Shape]]


def unknown(call) -> list[Shape]:
    """Nothing is known."""
    return [None]


def unknowns(count: int) -> Rule:
    """Nothing is known of `count` outputs."""
    return lambda call: [None] * count


def same_as(i: int) -> Rule:
    """The shape of input `i`."""
    return lambda call: [call.shape(i)]


same_as_first = same_as(0)
same_as_second = same_as(1)


def same_as_all(call) -> list[Shape]:
    """Every output has the shape of the input at its place."""
    return [call.shape(i) for i in range(call.count)]


def merged(call) -> list[Shape]:
    """All inputs have one shape, the output's."""
    shape: Shape = None
    for i in range(call.count):
        shape = merge(shape, call.shape(i))
    return [shape]


def scalar(call) -> list[Shape]:
    return [()]


def fixed(*outputs: Shape) -> Rule:
    """Shapes that no input changes."""
    return lambda call: list(outputs)


def vector(call) -> list[Shape]:
    """A vector of unknown length."""
    return [(None,)]


def given(i: int) -> Rule:
    """The shape is the value of input `i`."""
    return lambda call: [from_value(call, i)]


def attr_shape(name: str) -> Rule:
    """The shape is the attr `name`."""
    return lambda call: [call.attr(name)]


def broadcast_all(call) -> list[Shape]:
    """The inputs broadcast together."""
    shape: Shape = ()
    for i in range(call.count):
        shape = broadcast(shape, call.shape(i))
    return [shape]


def reduction(call) -> list[Shape]:
    """Input 0 reduced over the axes in input 1; attr `keep_dims`."""
    shape, axes = call.shape(0), call.value(1)
    keep = call.attr("keep_dims")
    if shape is None:
        return [None]
    if axes is None:
        if keep:
            return [(None,) * len(shape)]
        return [None if shape else ()]
    reduced = {normal_axis(int(a), len(shape)) for a in np.ravel(axes)}
    if keep:
        return [tuple(1 if i in reduced else d for i, d in enumerate(shape))]
    return [tuple(d for i, d in enumerate(shape) if i not in reduced)]


def arg_reduction(call) -> list[Shape]:
    """Input 0 without the axis in input 1."""
    shape, axis = call.shape(0), call.value(1)
    if shape is None:
        return [None]
    if axis is None:
        return [(None,) * max(len(shape) - 1, 0)]
    gone = normal_axis(int(axis), len(shape))
    return [shape[:gone] + shape[gone + 1 :]]


def matmul(call) -> list[Shape]:
    """Two matrices; attrs `transpose_a`, `transpose_b`."""
    a, b = with_rank(call.shape(0), 2), with_rank(call.shape(1), 2)
    if call.attr("transpose_a"):
        a = a[::-1]
    if call.attr("transpose_b"):
        b = b[::-1]
    same_dimension(a[1], b[0])
    return [(a[0], b[1])]


def batch_matmul(call) -> list[Shape]:
    """Two stacks of matrices whose leading dimensions broadcast; attrs `adj_x`, `adj_y`."""
    a, b = call.shape(0), call.shape(1)
    if a is None or b is None:
        return [None]
    if len(a) < 2 or len(b) < 2:
        raise InvalidArgumentError(None, None, f"Shape must be at least rank 2: {a}, {b}")
    rows, inner_a = a[-2:][::-1] if call.attr("adj_x") else a[-2:]
    inner_b, columns = b[-2:][::-1] if call.attr("adj_y") else b[-2:]
    same_dimension(inner_a, inner_b)
    batch = broadcast(a[:-2], b[:-2])
    return [None if batch is None else (*batch, rows, columns)]


def concat(call) -> list[Shape]:
    """All inputs but the last joined along the axis that is the last."""
    return [joined([call.shape(i) for i in range(call.count - 1)], call.value(call.count - 1))]


def joined(parts: Sequence[Shape], axis) -> Shape:
    """The shape of `parts` joined along `axis` (None: unknown)."""
    known = [p for p in parts if p is not None]
    if not known:
        return None
    rank = len(known[0])
    if axis is None:
        return (None,) * rank
    at = normal_axis(int(axis), rank)
    shape: Shape = None
    for part in known:
        if len(part) != rank:
            raise InvalidArgumentError(None, None, f"Shapes must be equal rank: {known}")
        shape = merge(shape, part[:at] + (None,) + part[at + 1 :])
    lengths = [p[at] for p in known]
    total = sum(lengths) if len(known) == len(parts) and None not in lengths else None  # type: ignore[arg-type]
    assert shape is not None
    return shape[:at] + (total,) + shape[at + 1 :]


# What rules are made of.


def from_value(call, i: int) -> Shape:
    """The shape that the value of input `i` spells."""
    value = call.value(i)
    if value is not None:
        return tuple(None if d < 0 else int(d) for d in np.ravel(value))
    length = call.shape(i)
    if length is None or len(length) != 1 or length[0] is None:
        return None
    return (None,) * length[0]


def broadcast(a: Shape, b: Shape) -> Shape:
    """NumPy's broadcasting of two partly known shapes."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    a = (1,) * (rank - len(a)) + a
    b = (1,) * (rank - len(b)) + b
    return tuple(_broadcast_dimension(x, y) for x, y in zip(a, b, strict=True))


def _broadcast_dimension(x: int | None, y: int | None) -> int | None:
    if x == 1:
        return y
    if y == 1:
        return x
    if x is None or y is None:
        return x if y is None else y
    if x != y:
        raise InvalidArgumentError(None, None, f"Dimensions must be equal, but are {x} and {y}")
    return x


def merge(a: Shape, b: Shape) -> Shape:
    """What is known when both are shapes of one tensor."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise InvalidArgumentError(
            None, None, f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
        )
    return tuple(same_dimension(x, y) for x, y in zip(a, b, strict=True))


def same_dimension(x: int | None, y: int | None) -> int | None:
    if x is not None and y is not None and x != y:
        raise InvalidArgumentError(None, None, f"Dimensions must be equal, but are {x} and {y}")
    return y if x is None else x


def with_rank(shape: Shape, rank: int) -> tuple[int | None, ...]:
    """`shape`, known to have `rank` dimensions."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise InvalidArgumentError(
            None, None, f"Shape must be rank {rank} but is rank {len(shape)}"
        )
    return shape


def normal_axis(axis: int, rank: int) -> int:
    """`axis` counted from the front."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            None, None, f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
        )
    return axis % rank


def element_count(shape: Shape) -> int | None:
    if shape is None or None in shape:
        return None
    return int(np.prod(shape, dtype=np.int64)) if shape else 1  # type: ignore[arg-type]
