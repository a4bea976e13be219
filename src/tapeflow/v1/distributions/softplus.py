"""Distributions whose positive parameters are what softplus makes of any number."""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.nn.softplus import softplus
from tapeflow.v1.distributions import continuous, student_t

__all__ = [
    "BetaWithSoftplusConcentration", "ExponentialWithSoftplusRate", "GammaWithSoftplusConcentrationRate",
    "LaplaceWithSoftplusScale", "NormalWithSoftplusScale", "StudentTWithAbsDfSoftplusScale",
]  # fmt: skip


def with_changed(base: Any, title: str, **changes: Any) -> Any:
    """The distribution whose named parameters are first changed so; its `parameters` are those before."""
    own = inspect.signature(base)
    named = [p.replace(default=title) if p.name == "name" else p for p in own.parameters.values()]
    signature = own.replace(parameters=named)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        changed = {name: change(convert_to_tensor(given[name])) for name, change in changes.items()}
        base.__init__(self, **{**given, **changed})
        self._remember(given)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return type(title, (base,), {"__init__": __init__, "__doc__": f"{base.__name__}; see the module."})


BetaWithSoftplusConcentration = with_changed(
    continuous.Beta, "BetaWithSoftplusConcentration", concentration1=softplus, concentration0=softplus
)
ExponentialWithSoftplusRate = with_changed(
    continuous.Exponential, "ExponentialWithSoftplusRate", rate=softplus
)
GammaWithSoftplusConcentrationRate = with_changed(
    continuous.Gamma, "GammaWithSoftplusConcentrationRate", concentration=softplus, rate=softplus
)
LaplaceWithSoftplusScale = with_changed(continuous.Laplace, "LaplaceWithSoftplusScale", scale=softplus)
NormalWithSoftplusScale = with_changed(continuous.Normal, "NormalWithSoftplusScale", scale=softplus)
StudentTWithAbsDfSoftplusScale = with_changed(
    student_t.StudentT, "StudentTWithAbsDfSoftplusScale", df=lambda df: floor(abs_(df)), scale=softplus
)
