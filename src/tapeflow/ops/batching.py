"""Batching rules: how one call of a row does for a whole batch what the row does for one element.

A rule is a function of an `autodiff.batched_graph.Call`, in which at least one input has the batch as an additional
first dimension. It returns the outputs, each with the batch as first dimension (or `call.shared(x)`, where it is one
for all elements), or None where it has no answer: then the row is called once for each element. Positions count flat
inputs; negative ones count from the last. A row takes a rule by `Row.batching(rule)`; rows whose inputs broadcast
have `broadcasting`, and those with the shape rule `shapes.elementwise` have `elementwise`, without saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Rule = Callable[[Any], "Sequence[Any] | None"]


def broadcasting(call: Any) -> Sequence[Any] | None:
    """The inputs broadcast: those of fewer dimensions get dimensions of size 1 behind the batch."""
    if None in call.ranks:
        return None
    rank = max(call.ranks)
    return call.run([call.aligned(i, rank) for i in range(len(call.inputs))])


def spread(call: Any) -> Sequence[Any] | None:
    """The inputs have one shape, but for scalars, which stay where they are the same for all elements."""
    if None in call.ranks:
        return None
    rank = max(call.ranks)
    model = next(i for i, own in enumerate(call.ranks) if own == rank)
    return call.run(
        [
            call.like(i, model) if call.batched[i] or own else x
            for i, (x, own) in enumerate(zip(call.inputs, call.ranks, strict=True))
        ]
    )


def decomposed(call: Any) -> Sequence[Any] | None:
    """A matrix behind any dimensions, where outputs that nobody asked for are empty vectors."""
    outputs = leading(least=[2])(call)
    return outputs and [call.shared(y) if y.shape.as_list() == [0] else y for y in outputs]


def elementwise(call: Any) -> Sequence[Any]:
    """All inputs have one shape."""
    return call.run([call.with_batch(i) for i in range(len(call.inputs))])


def leading(*positions: int, least: Sequence[int] = ()) -> Rule:
    """The inputs at `positions` may have any dimensions in front; the others are the same for all elements.

    Args:
      positions: of the inputs that get the batch; none stands for all.
      least: how many dimensions each of them needs at least for one element, where fewer mean something else.
    """

    def rule(call: Any) -> Sequence[Any] | None:
        chosen = call.positions(positions or range(len(call.inputs)))
        if not call.only(chosen):
            return None
        for i, rank in zip(chosen, least):
            if call.ranks[i] is None or call.ranks[i] < rank:
                return None
        return call.run([call.with_batch(i) if i in chosen else x for i, x in enumerate(call.inputs)])

    return rule


def along(axis: int, *positions: int) -> Rule:
    """Input `axis` has axes of the inputs at `positions`, from the front or the back."""

    def rule(call: Any) -> Sequence[Any] | None:
        (at,) = call.positions([axis])
        chosen = call.positions(positions or [i for i in range(len(call.inputs)) if i != at])
        if not call.only(chosen):
            return None
        inputs = [call.with_batch(i) if i in chosen else x for i, x in enumerate(call.inputs)]
        inputs[at] = call.shifted(inputs[at])
        return call.run(inputs)

    return rule


def along_attr(name: str, *positions: int) -> Rule:
    """The attr `name` is an axis of the inputs at `positions`, or of the output, from the front or the back."""

    def rule(call: Any) -> Sequence[Any] | None:
        chosen = call.positions(positions or range(len(call.inputs)))
        if not call.only(chosen):
            return None
        inputs = [call.with_batch(i) if i in chosen else x for i, x in enumerate(call.inputs)]
        axis = call.attrs[name]
        return call.run(inputs, **{name: axis + 1 if axis >= 0 else axis})

    return rule


def per_axis(**first: int) -> Rule:
    """Input 0 has the batch; the inputs named have a number (or row of numbers) for each axis, here for the batch."""

    def rule(call: Any) -> Sequence[Any] | None:
        if not call.only([0]):
            return None
        inputs = [call.with_batch(0), *call.inputs[1:]]
        for name, value in first.items():
            at = call.row.inputs.index(name)
            inputs[at] = call.prepended(inputs[at], value)
        return call.run(inputs)

    return rule


def folded(*positions: int, sizes: int | None = None) -> Rule:
    """The first dimension of the inputs at `positions`, and of all outputs, is a batch already: the two become one.

    Args:
      sizes: the position of an input that has the sizes of such an input.
    """

    def rule(call: Any) -> Sequence[Any] | None:
        chosen = call.positions(positions or range(len(call.inputs)))
        if not call.only(chosen) or any(not call.ranks[i] for i in chosen):
            return None
        inner = call.first_size(chosen[0])
        inputs = [call.folded(i, inner) if i in chosen else x for i, x in enumerate(call.inputs)]
        if sizes is not None and inputs[sizes].shape.as_list() == [call.ranks[chosen[-1]]]:
            inputs[sizes] = call.folded_sizes(inputs[sizes], inner)
        return [call.unfolded(y, inner) for y in call.run(inputs)]

    return rule


def random_shape(call: Any) -> Sequence[Any] | None:
    """Input 0 is the shape of random numbers: each element has its own."""
    if call.batched[0]:
        return None
    inputs = [call.with_size(call.inputs[0]), *call.inputs[1:]]
    if any(call.batched[1:]):
        return None
    return call.run(inputs)


def sliced(call: Any, inputs: list[Any], bounds: Sequence[int]) -> Sequence[Any]:
    """A strided slice whose bounds, at these positions, begin with the whole batch."""
    for at, value in zip(bounds, (0, 0, 1), strict=True):
        inputs[at] = call.prepended(inputs[at], value)
    masks = {name: value << 1 for name, value in call.attrs.items() if name.endswith("_mask")}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return call.run(inputs, **masks)


def transposed(call: Any) -> Sequence[Any] | None:
    """Input 1 is a permutation of the axes of input 0."""
    if not call.only([0]):
        return None
    return call.run([call.inputs[0], call.prepended(call.inputs[1] + 1, 0)])
