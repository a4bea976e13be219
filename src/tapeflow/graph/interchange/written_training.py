"""Rows that apply an optimizer's rule and are no ops of TensorFlow, as nodes that it knows.

Several variables are as many nodes; a gradient of some rows becomes one of all rows; the rules that TensorFlow has no
op for are their formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.graph.interchange.written_as import is_composed
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.elementwise import abs, sign, sqrt
from tapeflow.ops.math.segment import UnsortedSegmentSum
from tapeflow.ops.state import training  # noqa: F401 (makes the rules)
from tapeflow.ops.state.rows import AssignVariableOp, ReadVariableOp
from tapeflow.ops.state.training_rule import RULES, Rule


class _Formulas:
    """What formulas of rules call, as ops."""

    abs, maximum = staticmethod(abs), staticmethod(maximum)
    sign, sqrt = staticmethod(sign), staticmethod(sqrt)


def _dense(rule: Rule, inputs: Any, attrs: Mapping[str, Any]) -> None:
    """The rule for one variable: the node of TensorFlow, or the formula."""
    if not is_composed(rule.dense):
        rule.dense(*inputs, **attrs)
        return
    variables, values, (grad,) = rule.split(inputs)
    scalars = [name for name in rule.names if name != rule.gradient]
    named = dict(zip(scalars, values, strict=True))
    named |= {name: value for name, value in attrs.items() if name in rule.attrs}
    arrays = [ReadVariableOp(x, grad.dtype) for x in variables]
    results = rule.update(_Formulas, *arrays, grad, **named)
    for x, result in zip(variables, results, strict=True):
        AssignVariableOp(x, result)


def _rows(rule: Rule, inputs: Any, attrs: Any) -> None:
    variables, values, (grad, indices) = rule.split(inputs)
    count = Shape(ReadVariableOp(variables[0], grad.dtype))[0]
    dense = UnsortedSegmentSum(grad, indices, count)
    _dense(rule, [*variables, *values[: rule.at], dense, *values[rule.at :]], attrs)


def _many(rule: Rule, inputs: Any, attrs: Mapping[str, Any]) -> None:
    kinds, scalars = len(rule.slots) + 1, len(rule.names) - 1
    n = (len(inputs) - scalars) // (kinds + 1)
    variables, values = inputs[: n * kinds], inputs[n * kinds : n * kinds + scalars]
    for i, grad in enumerate(inputs[n * kinds + scalars :]):
        _dense(rule, [*variables[i::n], *values[: rule.at], grad, *values[rule.at :]], attrs)


def _made(how: Callable[[Rule, Any, Any], None], rule: Rule) -> Callable[..., None]:
    return lambda *inputs, **attrs: how(rule, inputs, attrs)


ROWS = {
    row: _made(how, rule)
    for rule in RULES.values()
    # A gradient of zero leaves a row as it is under Adagrad, so that its sparse update is a dense one too.
    for row, how in ((rule.dense, _dense), (rule.rows, _rows), (rule.many, _many), (rule.sparse, _rows))
    if row is not None
}
