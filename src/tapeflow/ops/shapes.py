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
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

Shape = tuple[int | None, ...] | None
Rule = Callable[[Any], list[Shape]]


def unknown(call: ShapeCall) -> list[Shape]:
    """Nothing is known."""
    return [None]


def unknowns(count: int) -> Rule:
    """Nothing is known of `count` outputs."""
    return lambda call: [None] * count


def same_as(i: int, rank: int | None = None, least: int = 0) -> Rule:
    """The shape of input `i`, which has to have `rank` or at `least` so many dimensions."""
    if rank is not None:
        return lambda call: [with_rank(call.shape(i), rank)]
    if least:
        return lambda call: [at_least(call.shape(i), least)]
    return lambda call: [call.shape(i)]


same_as_first = same_as(0)
same_as_second = same_as(1)


def same_as_all(call: ShapeCall) -> list[Shape]:
    """Every output has the shape of the input at its place."""
    return [call.shape(i) for i in range(call.count)]


def elementwise(call: ShapeCall) -> list[Shape]:
    """The shape of the one input, of which each element alone decides on the element of the output at its place."""
    return [call.shape(0)]


def merged(call: ShapeCall) -> list[Shape]:
    """All inputs have one shape, the output's."""
    return [merged_shape(call)]


def merged_shape(call: ShapeCall, rank: int | None = None) -> Shape:
    """What is known of the one shape of all inputs."""
    shape: Shape = None if rank is None else (None,) * rank
    for i in range(call.count):
        shape = merge(shape, call.shape(i))
    return shape


def merged_or_scalar(call: ShapeCall) -> Shape:
    """The one shape of all inputs that are no scalars."""
    known: Shape = ()
    sure = True  # that what is unknown does not make the result larger
    for i in range(call.count):
        shape = call.shape(i)
        if shape is None:
            sure = False
        elif shape:
            known = merge(known or None, shape)
    return known if sure or known else None


def scalar(call: ShapeCall) -> list[Shape]:
    return [()]


def fixed(*outputs: Shape) -> Rule:
    """Shapes that no input changes."""
    return lambda call: list(outputs)


def vector(call: ShapeCall) -> list[Shape]:
    """A vector of unknown length."""
    return [(None,)]


def given(i: int, rank: int | None = None) -> Rule:
    """The shape is the value of input `i`. `rank` is the only one it may have."""

    def rule(call: ShapeCall) -> list[Shape]:
        shape = from_value(call, i)
        return [shape if rank is None else with_rank(shape, rank)]

    return rule


def broadcast_all(call: ShapeCall) -> list[Shape]:
    """The inputs broadcast together."""
    if call.count == 2:
        return [broadcast(call.shape(0), call.shape(1))]
    given = [call.shape(i) for i in range(call.count)]
    shape: Shape = ()
    for each in given:
        if each is not None:
            shape = broadcast(shape, each)
    return [None if None in given else shape]


def reduction(call) -> list[Shape]:
    """Input 0 reduced over the axes in input 1; attr `keep_dims`."""
    shape, axes = call.shape(0), call.value(1)
    if call.shape(1) is not None and len(call.shape(1)) > 1:
        raise InvalidArgumentError(
            None, None, f"Shape must be at most rank 1 but is rank {len(call.shape(1))}"
        )
    keep = call.attr("keep_dims")
    if shape is None:
        return [None]
    if axes is None:
        if keep:
            return [(None,) * len(shape)]
        return [None if shape else ()]
    for axis in (int(a) for a in np.ravel(axes)):
        if not -len(shape) <= axis < len(shape):
            raise InvalidArgumentError(
                None, None, f"Invalid reduction dimension {axis} for input with {len(shape)} dimensions."
            )
    reduced = {int(a) % len(shape) for a in np.ravel(axes)}
    if keep:
        return [tuple(1 if i in reduced else d for i, d in enumerate(shape))]
    return [tuple(d for i, d in enumerate(shape) if i not in reduced)]


def arg_reduction(call: ShapeCall) -> list[Shape]:
    """Input 0 without the axis in input 1."""
    shape, axis = call.shape(0), scalar_value(call, 1)
    if shape is None:
        return [None]
    if len(shape) < 2:
        return [()]
    if axis is None:
        return [(None,) * (len(shape) - 1)]
    if not -len(shape) <= axis < len(shape):
        raise InvalidArgumentError(
            None,
            None,
            f"Dimension ({axis}) must be in the range [{-len(shape)}, {len(shape)}), where {len(shape)} is the "
            "number of dimensions in the input.",
        )
    gone = axis % len(shape)
    return [shape[:gone] + shape[gone + 1 :]]


def matmul(call: ShapeCall) -> list[Shape]:
    """Two matrices; attrs `transpose_a`, `transpose_b`."""
    a, b = with_rank(call.shape(0), 2), with_rank(call.shape(1), 2)
    if call.attr("transpose_a"):
        a = a[::-1]
    if call.attr("transpose_b"):
        b = b[::-1]
    same_dimension(a[1], b[0])
    return [(a[0], b[1])]


def batch_matmul(broadcasts: bool) -> Rule:
    """Two stacks of matrices whose leading dimensions broadcast, or are the same; attrs `adj_x`, `adj_y`."""

    def rule(call: ShapeCall) -> list[Shape]:
        a, b = at_least(call.shape(0), 2), at_least(call.shape(1), 2)
        of_a, of_b = ((None, None) if s is None else s[-2:] for s in (a, b))
        rows, inner_a = of_a[::-1] if call.attr("adj_x") else of_a
        inner_b, columns = of_b[::-1] if call.attr("adj_y") else of_b
        same_dimension(inner_a, inner_b)
        batches = [None if s is None else s[:-2] for s in (a, b)]
        batch = broadcast(*batches) if broadcasts else merge(*batches)
        return [None if batch is None else (*batch, rows, columns)]

    return rule


def concat(call: ShapeCall) -> list[Shape]:
    """All inputs but the last joined along the axis that is the last."""
    last = call.count - 1
    if last > 1 and () in [call.shape(i) for i in range(last)]:
        raise InvalidArgumentError(None, None, "Can't concatenate scalars (use tf.stack instead)")
    return [joined([call.shape(i) for i in range(last)], scalar_value(call, last))]


def joined(parts: Sequence[Shape], axis: Any) -> Shape:
    """The shape of `parts` joined along `axis` (None: unknown)."""
    known = [p for p in parts if p is not None]
    if not known:
        return None
    rank = len(known[0])
    if axis is None:
        for part in known:
            with_rank(part, rank)
        return (None,) * rank
    if not -rank <= int(axis) < rank:
        at_least(known[0], int(axis) + 1 if axis >= 0 else -int(axis))
    at = normal_axis(int(axis), rank)
    shape: Shape = None
    for part in known:
        with_rank(part, rank)
        shape = merge(shape, part[:at] + (None,) + part[at + 1 :])
    lengths = [p[at] for p in known]
    total = sum(lengths) if len(known) == len(parts) and None not in lengths else None  # type: ignore[arg-type]
    assert shape is not None
    return shape[:at] + (total,) + shape[at + 1 :]


# What rules are made of.


def from_value(call: ShapeCall, i: int) -> Shape:
    """The shape that the vector that is input `i` spells, -1 and what is unknown of it being None."""
    with_rank(call.shape(i), 1)
    value = call.value(i)
    if value is not None and (value < -1).any():
        raise InvalidArgumentError(
            None, None, f"Invalid value in tensor used for shape: {value.min()}"
        )
    return call.value_as_shape(i)


def scalar_shape(call, i: int) -> None:
    """Input `i` has to be a scalar."""
    if call.shape(i):
        raise InvalidArgumentError(
            None, None, f"Shape must be rank 0 but is rank {len(call.shape(i))}"
        )


def scalar_value(call: ShapeCall, i: int) -> int | None:
    """The value of input `i`, an integer scalar."""
    scalar_shape(call, i)
    value = call.value(i)
    return None if value is None else int(value)


def vector_value(call: ShapeCall, i: int) -> list[int] | None:
    """The elements of input `i`, a vector of integers."""
    with_rank(call.shape(i), 1)
    value = call.value(i)
    return None if value is None else [int(v) for v in value]


def size_value(call: ShapeCall, i: int, least: int = 0) -> int | None:
    """The value of input `i`, a scalar that is a size."""
    value = scalar_value(call, i)
    if value is not None and value < least:
        text = f"The size must be at least {least}, but is {value}"
        if least == 0:
            text = f"Dimension size, given by scalar input {i}, must be non-negative but is {value}"
        raise InvalidArgumentError(None, None, text)
    return value


def vector_length(call: ShapeCall, i: int) -> int | None:
    """The length of input `i`, which has to be a vector."""
    return with_rank(call.shape(i), 1)[0]


def broadcast(a: Shape, b: Shape) -> Shape:
    """NumPy's broadcasting of two partly known shapes."""
    if a == b or not b:  # the common cases; one of the two is unknown if the other is not equal to it
        return None if b is None else a
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    a = (1,) * (rank - len(a)) + a
    b = (1,) * (rank - len(b)) + b
    return tuple([_broadcast_dimension(x, y) for x, y in zip(a, b, strict=True)])


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
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise InvalidArgumentError(
                None,
                None,
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are {text(a)} and "
                f"{text(b)}.",
            )
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def text(shape: tuple[int | None, ...]) -> str:
    """`shape` as messages have it."""
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def same_dimension(x: int | None, y: int | None) -> int | None:
    if x is not None and y is not None and x != y:
        raise InvalidArgumentError(None, None, f"Dimensions must be equal, but are {x} and {y}")
    return y if x is None else x


def require_ranks(call: ShapeCall, *ranks: int | None) -> None:
    """Inputs have to have these ranks; None stands for any."""
    for i, rank in enumerate(ranks):
        if rank is not None:
            with_rank(call.shape(i), rank)


def exactly(x: int | None, size: int | None) -> int | None:
    """The dimension `x`, which has to be `size` if both are known."""
    if x is not None and size is not None and x != size:
        raise InvalidArgumentError(None, None, f"Dimension must be {size} but is {x}")
    return size if x is None else x


def divided(x: int | None, by: int) -> int | None:
    """The dimension `x` in `by` equal parts."""
    if x is not None and x % by:
        raise InvalidArgumentError(
            None, None, f"Dimension size must be evenly divisible by {by} but is {x}"
        )
    return None if x is None else x // by


def times(x: int | None, by: int | None) -> int | None:
    if x == 0 or by == 0:
        return 0
    return None if x is None or by is None else x * by


def at_least(shape: Shape, rank: int) -> Shape:
    """`shape`, which has to have `rank` dimensions or more."""
    if shape is not None and len(shape) < rank:
        raise InvalidArgumentError(
            None, None, f"Shape must be at least rank {rank} but is rank {len(shape)}"
        )
    return shape


def square(shape: Shape) -> Shape:
    """`shape`, a stack of square matrices."""
    shape = at_least(shape, 2)
    if shape is None:
        return None
    size = same_dimension(shape[-2], shape[-1])
    return (*shape[:-2], size, size)


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
