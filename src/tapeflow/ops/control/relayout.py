"""Operations that say how their results lie on a mesh of devices; anywhere else they are identities."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.ops import shapes
from tapeflow.ops.table import NUMERIC, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

NUMERIC_OR_BOOL = (*NUMERIC, dtypes.bool)
# Gives what a layout, written as text, asks of an array while compiling: a sharding of jax's, or None.
_sharding_of: Callable[[str], Any] = lambda layout: None  # noqa: E731


def use_shardings(function: Callable[[str], Any]) -> None:
    """Let `function` say what a layout asks of an array while compiling; None: nothing."""
    global _sharding_of
    _sharding_of = function


@op("Relayout", "input: T -> output: T", types={"T": NUMERIC_OR_BOOL}, attrs={"layout": ""},
    shape=shapes.same_as_first)  # fmt: skip
def Relayout(xp: ModuleType, input: Array, layout: str):
    """The same elements, in another layout on the mesh."""
    return xp.asarray(input)


@Relayout.compiled()
def _(xp: ModuleType, input: Array, layout: str):
    from jax.lax import with_sharding_constraint

    sharding = _sharding_of(layout)
    return input if sharding is None else with_sharding_constraint(xp.asarray(input), sharding)


@Relayout.gradient(needs="input")
def _(call: GradientCall, dy: Tensor):
    return RelayoutLike(dy, call.input)


Relayout.reference(lambda input, layout: input)


@Relayout.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))


@op("RelayoutLike", "input: T, layout_input: U -> output: T",
    types={"T": NUMERIC_OR_BOOL, "U": NUMERIC_OR_BOOL}, shape=shapes.same_as_first)  # fmt: skip
def RelayoutLike(xp: ModuleType, input: Array, layout_input: Array):
    """The same elements, in the layout of another tensor."""
    return xp.asarray(input)


@RelayoutLike.compiled()
def _(xp: ModuleType, input: Array, layout_input: Array):
    from jax.experimental.shard_alike import shard_alike

    if input.shape != layout_input.shape or input.dtype != layout_input.dtype:
        return input
    return shard_alike(xp.asarray(input), xp.asarray(layout_input))[0]


@RelayoutLike.gradient(needs="input")
def _(call: GradientCall, dy: Tensor):
    return RelayoutLike(dy, call.input), None


RelayoutLike.reference(lambda input, layout_input: input)


@RelayoutLike.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3), rng.normal(2, 3))
