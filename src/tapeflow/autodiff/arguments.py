"""The targets and sources of gradients, as tapes know them."""

from __future__ import annotations

from tapeflow import _native
from tapeflow.core.annotations import TensorLike
from tapeflow.core.structures import gradient_parts, nest
from tapeflow.ops.state.variable import Variable, variable_behind

_Tensor = _native.Tensor


def flat_sources(sources: TensorLike):
    """The tensors and variables in a structure, and whether some are parts of composites."""
    composites = False
    flat = []
    for each in nest.flatten(sources):
        if gradient_parts.is_registered(each):
            composites = True
            each = gradient_parts.part_of(each)
        each = variable_behind(each)
        if not _native.are_sources([each]):
            raise TypeError(
                "GradientTape.gradient: sources must be tensors or variables, but got "
                f"{each!r} of type {type(each).__name__!r}"
            )
        flat.append(each)
    return flat, composites


def flat_targets(target: TensorLike):
    """The tensors in a structure."""
    flat = []
    for each in nest.flatten(target):
        each = gradient_parts.part_of(each)
        if isinstance(each, Variable):
            each = each.read_value()
        if not isinstance(each, _Tensor):
            raise TypeError(
                "GradientTape.gradient: the target must be made of tensors, but got "
                f"{each!r} of type {type(each).__name__!r}"
            )
        flat.append(each)
    return flat
