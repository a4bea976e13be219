"""Branches and loops: taken and unrolled where that is known, else `tf.If`, `tf.Case` and `tf.While`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.graph.conditional import relaxed
from tapeflow.graph.operation import Operation
from tapeflow.lite import tensor_lists
from tapeflow.lite.emitter import Emitter, Known, emits
from tapeflow.lite.values import ListValue, Value

# Loops of more steps, or that would become more operations, stay loops.
_MOST_STEPS = 128
_MOST_OPERATIONS = 20_000


@emits("If", "Case")
def _branches(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    choice, given = inputs[0], inputs[1:]
    bodies = op.attrs["branches"]
    known = choice.constant_value()
    if known is not None:
        number = (0 if known else 1) if op.type == "If" else int(known)
        chosen = bodies[number if 0 <= number < len(bodies) else -1]
        return emitter.body(chosen.graph, chosen.outputs, given)
    passed = [i for i, x in enumerate(given) if not _is_constant(x)]
    arguments = [flat(emitter, given[i], op) for i in passed]
    names, results = [], []
    for body in bodies:
        inner = Emitter(emitter.module, arguments)
        found = inner.body(body.graph, body.outputs, _inside(given, passed, inner.arguments))
        names.append(f"branch_{len(emitter.module.functions)}")
        inner.finish(names[-1], [flat(inner, y, op) for y in found])
        results.append(found)
    wanted = [Value(ys[0].dtype, _common([_shape(y) for y in ys])) for ys in zip(*results, strict=True)]
    attrs = {"is_stateless": "false"}
    if op.type == "If":
        attrs |= {"then_branch": f"@{names[0]}", "else_branch": f"@{names[1]}"}
    else:
        attrs |= {"branches": "[" + ", ".join(f"@{name}" for name in names) + "]"}
    made = emitter.instruction(f"tf.{op.type}", [choice, *arguments], attrs, wanted, op)
    return [_like(y, ys[0]) for y, ys in zip(made, zip(*results, strict=True), strict=True)]


@emits("While")
def _while(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    body, count = op.attrs["body"], op.attrs["n_vars"]
    start, values, steps = emitter.mark(), list(inputs), 0
    most = min(_MOST_STEPS, _MOST_OPERATIONS // max(1, len(body.graph.operations)))
    while (goes_on := _goes_on(emitter, op, values)) and steps < most:
        values[:count] = emitter.body(body.graph, body.outputs, values)
        steps += 1
    if goes_on is not None and not goes_on:
        return values[:count]
    emitter.back(start)
    return _loop(emitter, op, [_renewed(x) for x in inputs])


def _goes_on(emitter: Emitter, op: Operation, values: list[Any]) -> bool | None:
    """Whether the loop makes another step; None if that is not known."""
    cond = op.attrs["cond"]
    scratch = Emitter(emitter.module, [])
    start = scratch.mark()
    found = scratch.body(cond.graph, cond.outputs, [_renewed(x) for x in values])[0].constant_value()
    scratch.back(start)
    return None if found is None else bool(found)


def _loop(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    """`tf.While`. Constants that no step changes are constants of its functions."""
    cond, body, count = op.attrs["cond"], op.attrs["body"], op.attrs["n_vars"]
    same = [i >= count or body.outputs[i] is body.graph.inputs[i] for i in range(len(inputs))]
    passed = [i for i, x in enumerate(inputs) if not (same[i] and _is_constant(x))]
    given = list(inputs)
    for i in passed:
        given[i] = tensor_lists.whole(emitter, inputs[i], op) if isinstance(inputs[i], ListValue) else inputs[i]
    start = [_value(given[i]) for i in passed]
    kinds = [x if same[i] else Value(x.dtype, _loop_shape(given[i], op, i)) for i, x in zip(passed, start, strict=True)]

    inner = Emitter(emitter.module, kinds)
    results = inner.body(body.graph, body.outputs, _inside(given, passed, inner.arguments))
    after = [results[i] if i < count else _inside(given, passed, inner.arguments)[i] for i in passed]
    names = [f"body_{len(emitter.module.functions)}"]
    inner.finish(names[0], [flat(inner, y, op) for y in after])

    test = Emitter(emitter.module, kinds)
    goes_on = test.body(cond.graph, cond.outputs, _inside(given, passed, test.arguments))
    names.append(f"cond_{len(emitter.module.functions)}")
    test.finish(names[1], [_value(goes_on[0])])

    attrs = {"body": f"@{names[0]}", "cond": f"@{names[1]}", "is_stateless": "false"}
    made = dict(zip(passed, emitter.instruction("tf.While", start, attrs, kinds, op), strict=True))
    return [_like(made[i], given[i]) if i in made else given[i] for i in range(count)]


def _loop_shape(x: Known, op: Operation, i: int) -> Any:
    """The shape of a variable of a loop, as far as it is the same in all steps."""
    if isinstance(x, ListValue):
        return _shape(x)
    return relaxed(x.shape_tuple, op.outputs[i].shape_tuple)


def _common(found: list[Any]) -> Any:
    shape = found[0]
    for other in found[1:]:
        shape = relaxed(shape, other)
    return shape


def _inside(given: Sequence[Known], passed: Sequence[int], arguments: Sequence[Value]) -> list[Known]:
    """What a function of a branch or loop has for inputs: its arguments, and constants of its own."""
    own: list[Known] = [_renewed(x) for x in given]
    for i, x in zip(passed, arguments, strict=True):
        own[i] = _like(x, given[i])
    return own


def _is_constant(x: Known) -> bool:
    return isinstance(x, Value) and x.tensor is not None


def _renewed(x: Known) -> Known:
    """A constant without the name that it has in another function."""
    return Value.of(x.tensor) if isinstance(x, Value) and x.tensor is not None else x


def _like(value: Value, x: Known) -> Known:
    """A value as what it stands for."""
    return ListValue(x.dtype, x.shape, None, value) if isinstance(x, ListValue) else value


def flat(emitter: Emitter, x: Known, op: Operation) -> Value:
    """A value as one tensor."""
    return _value(tensor_lists.whole(emitter, x, op)) if isinstance(x, ListValue) else x


def _value(x: Known) -> Value:
    if isinstance(x, Value):
        return x
    assert x.whole is not None
    return x.whole


def _shape(x: Known) -> Any:
    if isinstance(x, Value):
        return x.shape_tuple
    return None if x.shape is None else (None, *x.shape)


