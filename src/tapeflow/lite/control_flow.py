"""Branches and loops: taken and unrolled where that is known, else `tf.If` and `tfl.while`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.graph.control_flow.conditional import relaxed
from tapeflow.graph.operation import Operation
from tapeflow.lite import tensor_lists
from tapeflow.lite.emitter import Emitter, Known, emits
from tapeflow.lite.lowering import ConverterError
from tapeflow.lite.values import ListValue, Value
from tapeflow.ops.math.comparison import Equal

# Loops of more steps, or that would become more operations, stay loops.
_MOST_STEPS = 128
_MOST_OPERATIONS = 20_000
# How often the shapes of a loop's variables may turn out to be less known than was thought.
_MOST_ROUNDS = 5


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
    if op.type == "Case":  # its functions take the number as well
        arguments.append(choice)
    names, results = [], []
    for body in bodies:
        inner = Emitter(emitter.module, arguments, emitter.module.new_name("branch"))
        found = inner.body(body.graph, body.outputs, _inside(given, passed, inner.arguments[: len(passed)]))
        names.append(inner.name)
        inner.finish([flat(inner, y, op) for y in found])
        results.append(found)
    wanted = [Value(ys[0].dtype, _common([_shape(y) for y in ys])) for ys in zip(*results, strict=True)]
    if op.type == "Case":
        made = _choice(emitter, op, 0, names, arguments, wanted)
    else:
        made = _if(emitter, op, choice, names, arguments, wanted)
    return [_like(y, ys[0]) for y, ys in zip(made, zip(*results, strict=True), strict=True)]


def _if(
    emitter: Emitter, op: Operation, choice: Value, names: list[str], arguments: list[Value], wanted: list[Value]
) -> list[Value]:
    attrs = {"then_branch": f"@{names[0]}", "else_branch": f"@{names[1]}", "is_stateless": "false"}
    return emitter.instruction("tf.If", [choice, *arguments], attrs, wanted, op)


def _choice(
    emitter: Emitter, op: Operation, number: int, names: list[str], arguments: list[Value], wanted: list[Value]
) -> list[Value]:
    """One of several functions by nested `tf.If`s: TensorFlow Lite has no more. The last argument is its number."""
    rest = names[number + 1 :]
    other = rest[0]
    if len(rest) > 1:
        inner = Emitter(emitter.module, arguments, emitter.module.new_name("branch"))
        inner.finish(_choice(inner, op, number + 1, names, inner.arguments, wanted))
        other = inner.name
    place = Value.of_array(number, arguments[-1].dtype)
    here = emitter.op(Equal, [arguments[-1], place], dtypes.bool, (), op, incompatible_shape_error="true")
    return _if(emitter, op, here, [names[number], other], arguments, wanted)


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
    scratch = Emitter(emitter.module, [], "scratch")
    start = scratch.mark()
    found = _value(scratch.body(cond.graph, cond.outputs, [_renewed(x) for x in values])[0]).constant_value()
    scratch.back(start)
    return None if found is None else bool(found)


def _loop(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    """A loop of its own functions. Constants that no step changes are constants of its functions."""
    cond, body, count = op.attrs["cond"], op.attrs["body"], op.attrs["n_vars"]
    same = [i >= count or body.outputs[i] is body.graph.inputs[i] for i in range(len(inputs))]
    passed = [i for i, x in enumerate(inputs) if not (same[i] and _is_constant(x))]
    given = [tensor_lists.whole(emitter, x, op) if isinstance(x, ListValue) else x for x in inputs]
    start = [_value(given[i]) for i in passed]
    kinds = [Value(x.dtype, x.shape_tuple) for x in start]
    before = emitter.mark()
    for _ in range(_MOST_ROUNDS):  # until the shapes are those that all steps have
        inner = Emitter(emitter.module, kinds, emitter.module.new_name("body"))
        variables = _inside(given, passed, inner.arguments)
        results = inner.body(body.graph, body.outputs, variables)
        after = [flat(inner, results[i] if i < count else variables[i], op) for i in passed]
        if all(y.shape_tuple == x.shape_tuple for x, y in zip(kinds, after, strict=True)):
            break
        emitter.back(before)
        kinds = [Value(x.dtype, relaxed(x.shape_tuple, y.shape_tuple)) for x, y in zip(kinds, after, strict=True)]
    else:
        raise ConverterError(f"{op.type} (node '{op.name}') has variables whose shapes differ from step to step")
    inner.finish(after)
    test = Emitter(emitter.module, kinds, emitter.module.new_name("cond"))
    goes_on = test.body(cond.graph, cond.outputs, _inside(given, passed, test.arguments))
    test.finish([_value(goes_on[0])])
    made = dict(zip(passed, emitter.loop(test.name, inner.name, start, kinds, op), strict=True))
    return [_like(made[i], given[i]) if i in made else given[i] for i in range(count)]


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


