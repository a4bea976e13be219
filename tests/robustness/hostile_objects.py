"""Calls with objects whose special methods run code in the middle: they change the container that is being read, raise,
recurse, collect garbage, let other threads run, or return something of the wrong type or size.

    python tests/robustness/hostile_objects.py --minutes 10 [--seed 1]

draws such calls for a given time; `make fuzz-objects` does so under AddressSanitizer. A call may return or
raise a Python exception; a crash or a call of more than two minutes ends the run, and the log (`--log`) names the call.
test_hostile_objects.py runs all of `quick_cases`, in processes of their own.
"""

from __future__ import annotations

import argparse
import ast
import faulthandler
import gc
import os
import pathlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ops"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import function_calls
import hostile_cases
import ragged_calls
import sparse_calls
import text_calls
from test_hostile_rows import REGISTRY, Generator, limit_memory, read

import tapeflow as tf


class Hostile(Exception):
    """Raised by an object's special method."""


# -- what a special method does ----------------------------------------------------------------------


class Act:
    """An action on nested lists, at most `times` times: what grows each time it is read would never end."""

    def __init__(self, name: str, again: Callable[[], Any], times: int = 20):
        self.name, self.again, self.left = name, again, times
        self.lists: list[list] = []
        self.kept: list[Any] = []

    def __call__(self, own: Any) -> Any:
        """`own` is what a well-behaved object would return."""
        if self.left > 0:
            self.left -= 1
            own = getattr(self, self.name)(own)
        return own

    def _every_list(self) -> list[list]:
        """The lists and their rows, each once."""
        found = {id(rows): rows for rows in self.lists}
        for rows in self.lists:
            found.update((id(row), row) for row in list.__iter__(rows) if isinstance(row, list))
        return list(found.values())

    def grow(self, own):
        for rows in self._every_list():
            first = list(list.__iter__(rows))[:1]
            most = 20 if first and isinstance(first[0], list) else 5000
            if list.__len__(rows) < most:
                rows.extend(first * most)
        return own

    def shrink(self, own):
        for rows in self._every_list():
            del rows[1:]
        _reuse_memory()
        return own

    def empty(self, own):
        for rows in self._every_list():
            rows.clear()
        _reuse_memory()
        return own

    def replace(self, own):
        for rows in self._every_list():
            rows[:] = [object() for _ in rows]
        _reuse_memory()
        return own

    def fail(self, own):
        raise Hostile

    def recurse(self, own):
        self.again()
        return own

    def collect(self, own):
        gc.collect()
        return own

    def yield_to_others(self, own):
        time.sleep(0)
        return own

    def wrong(self, own):
        return _OBJECT

    def huge(self, own):
        return 2**200

    def negative(self, own):
        return -(2**62)


ACTIONS = ("grow", "shrink", "empty", "replace", "fail", "recurse", "collect", "yield_to_others", "wrong",
           "huge", "negative")  # fmt: skip
_OBJECT = object()


def _reuse_memory() -> None:
    """What was freed just now is written over."""
    gc.collect(0)
    [[i, i] for i in range(200)]
    [bytes(n) for n in (16, 24, 32, 48, 64, 128)]


# -- objects -----------------------------------------------------------------------------------------

METHODS = ("__float__", "__int__", "__index__", "__complex__", "__bool__", "__len__", "__iter__", "__getitem__",
           "__str__", "__repr__", "__eq__", "__hash__", "__array__", "__array_interface__", "__tf_tensor__", "__call__",
           "__trunc__", "__bytes__", "__fspath__", "__contains__", "shape", "dtype", "rank", "as_list")  # fmt: skip
PROPERTIES = {"__array_interface__", "shape", "dtype", "rank"}


def _method(name: str, value: Any) -> Callable:
    """The special method of an object that stands for `value`."""
    array = None if isinstance(value, (str, bytes)) else np.asarray(value)
    plain = {
        "__float__": lambda: float(array.ravel()[0].real),
        "__int__": lambda: int(array.ravel()[0].real),
        "__index__": lambda: int(array.ravel()[0].real),
        "__complex__": lambda: complex(array.ravel()[0]),
        "__bool__": lambda: True,
        "__len__": lambda: len(value),
        "__str__": lambda: str(value),
        "__repr__": lambda: repr(value),
        "__hash__": lambda: 7,
        "__array_interface__": lambda: array.__array_interface__,
        "__trunc__": lambda: int(array.ravel()[0].real),
        "__bytes__": lambda: b"text",
        "__fspath__": lambda: "/nowhere",
        "shape": lambda: array.shape,
        "dtype": lambda: array.dtype,
        "rank": lambda: array.ndim,
        "as_list": lambda: list(array.shape),
    }
    with_arguments = {
        "__iter__": lambda self: iter(value),
        "__getitem__": lambda self, key: value[key],
        "__eq__": lambda self, other: self is other,
        "__array__": lambda self, dtype=None, copy=None: np.asarray(array, dtype),
        "__tf_tensor__": lambda self, dtype=None, name=None: tf.constant(value, dtype),
        "__call__": lambda self, *args, **kwargs: value,
        "__contains__": lambda self, key: False,
    }
    if name in with_arguments:
        compute = with_arguments[name]
        return lambda self, *args, **kwargs: self._act(compute(self, *args, **kwargs))
    return lambda self: self._act(plain[name]())


def stand_in(value: Any, methods: tuple[str, ...], act: Act, base: type = object) -> Any:
    """An object for `value` whose `methods` act."""
    members: dict[str, Any] = {}
    for name in methods:
        function = _method(name, value)
        members[name] = property(function) if name in PROPERTIES else function
    kind = type(f"Hostile_{base.__name__}", (base,), members)
    made = kind(value) if base is not object else kind()
    made._act = act
    if "__array_interface__" in methods:
        act.kept.append(made)  # NumPy itself reads the attribute of an item that it does not own
    return made


class HostileVariable(tf.Variable):
    """A variable whose class says how it is read, so that reading and its attributes act."""

    _act: Any = staticmethod(lambda own: own)

    def value(self):
        return self._act(super().value())

    @property
    def dtype(self):
        return self._act(super().dtype)

    @property
    def shape(self):
        return self._act(super().shape)

    @property
    def handle(self):
        return self._act(super().handle)


def variable(value: Any, act: Act) -> Any:
    """A variable that holds `value`, or, where that is not one tensor, any other object."""
    try:
        made = HostileVariable(value)
    except (TypeError, ValueError):
        return stand_in(value, METHODS, act)
    made._act = act
    return made


NUMBERS = ("__float__", "__int__", "__index__", "__complex__", "__trunc__")
# What stands for a number or a text in a list.
LEAVES: dict[str, Callable[[Any, Act], Any]] = {
    "float": lambda v, act: stand_in(float(np.real(v)), NUMBERS, act, float),
    "int": lambda v, act: stand_in(int(np.real(v)), (*NUMBERS, "__bool__"), act, int),
    "complex": lambda v, act: stand_in(complex(v), NUMBERS[-2:], act, complex),
    "index": lambda v, act: stand_in(v, NUMBERS, act),
    "array": lambda v, act: stand_in(v, ("__array__",), act),
    "interface": lambda v, act: stand_in(v, ("__array_interface__",), act),
    "own": lambda v, act: stand_in(v, ("__tf_tensor__",), act),
    "variable": variable,
    "shown": lambda v, act: stand_in(v, ("__str__", "__repr__", "__hash__", "__eq__"), act),
}
TEXTS: dict[str, Callable[[Any, Act], Any]] = {
    "str": lambda v, act: stand_in(
        v if isinstance(v, str) else "text", ("__str__", "__len__", "__eq__", "__hash__"), act, str
    ),
    "bytes": lambda v, act: stand_in(b"text", ("__bytes__", "__len__", "__iter__"), act, bytes),
    "array": LEAVES["array"],
    "shown": LEAVES["shown"],
}
# What stands for a whole row, or an argument.
WHOLES: dict[str, Callable[[Any, Act], Any]] = {
    "list": lambda v, act: stand_in(v, ("__len__", "__iter__", "__getitem__"), act, list),
    "tuple": lambda v, act: stand_in(v, ("__len__", "__iter__", "__getitem__"), act, tuple),
    "sequence": lambda v, act: stand_in(v, ("__len__", "__iter__", "__getitem__"), act),
    "array": LEAVES["array"],
    "interface": LEAVES["interface"],
    "own": LEAVES["own"],
    "variable": variable,
    "everything": lambda v, act: stand_in(v, METHODS, act),
    "shape": lambda v, act: stand_in(v, ("rank", "as_list", "__len__", "__iter__"), act),
}


def as_lists(value: Any) -> Any:
    """`value` as nested lists, a number or a text; None where it is neither."""
    if isinstance(value, tf.Tensor):
        value = value.numpy() if hasattr(value, "numpy") else None
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiubcOS":
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    return value if isinstance(value, (list, int, float, complex, str, bytes)) else None


def forms(value: Any) -> Iterator[tuple[str, Callable[[Act], Any]]]:
    """Hostile objects in the place of `value`, or of a part of it: (name, function that makes it)."""
    plain = as_lists(value)
    if plain is None:
        for name in ("everything", "shape"):
            yield name, lambda act, name=name: WHOLES[name](value, act)
        return
    if not isinstance(plain, list):
        for name, make in (TEXTS if isinstance(plain, (str, bytes)) else LEAVES).items():
            yield name, lambda act, make=make: make(plain, act)
        yield "everything", lambda act: WHOLES["everything"](plain, act)
        return
    for name, make in WHOLES.items():
        yield f"whole {name}", lambda act, make=make: _listed(make(_copied(plain), act), act)
    if plain and isinstance(plain[0], list) and plain[0]:
        for name, make in WHOLES.items():
            for at in {0, len(plain) - 1}:
                yield f"row {at} {name}", lambda act, make=make, at=at: _with_row(plain, at, make, act)
    leaf = plain
    while isinstance(leaf, list) and leaf:
        leaf = leaf[0]
    if isinstance(leaf, list):
        return
    for name, make in (TEXTS if isinstance(leaf, (str, bytes)) else LEAVES).items():
        for last in (False, True):
            yield (
                f"{'last' if last else 'first'} leaf {name}",
                lambda act, make=make, last=last: _with_leaf(plain, last, make, act),
            )


def _listed(made: Any, act: Act) -> Any:
    if isinstance(made, list):
        act.lists.append(made)
    return made


def _copied(value: Any) -> Any:
    return [_copied(v) for v in value] if isinstance(value, list) else value


def _with_row(plain: list, at: int, make: Callable, act: Act) -> list:
    rows = _copied(plain)
    rows[at] = make(rows[at], act)
    act.lists.append(rows)
    return rows


def _with_leaf(plain: list, last: bool, make: Callable, act: Act) -> list:
    rows = _copied(plain)
    at = rows
    while isinstance(at[-1 if last else 0], list) and at[-1 if last else 0]:
        at = at[-1 if last else 0]
    if not isinstance(at[-1 if last else 0], list):
        at[-1 if last else 0] = make(at[-1 if last else 0], act)
    act.lists.append(rows)
    return rows


# -- calls that are well-formed ----------------------------------------------------------------------


class Call:
    """A call that works, of which one argument will be replaced."""

    def __init__(self, name: str, function: Callable, args: list, kwargs: dict):
        self.name, self.function, self.args, self.kwargs = name, function, args, kwargs

    def places(self) -> list:
        return [*range(len(self.args)), *self.kwargs]

    def at(self, place: Any) -> Any:
        return self.args[place] if isinstance(place, int) else self.kwargs[place]

    def run(self, place: Any, make: Callable[[Act], Any], action: str) -> None:
        args, kwargs = list(self.args), dict(self.kwargs)
        where: Any = args if isinstance(place, int) else kwargs
        depth = [0]

        def again() -> None:
            if depth[0] < 3:
                depth[0] += 1
                self.function(*args, **kwargs)

        where[place] = make(Act(action, again))
        read(self.function(*args, **kwargs))


def written_calls() -> Iterator[Call]:
    """Those that the tests of functions compare with TensorFlow."""
    for module in (function_calls, text_calls, ragged_calls, sparse_calls):
        scope: dict[str, Any] = {"tf": tf, "np": np}
        exec(getattr(module, "SETUP", function_calls.SETUP), scope)
        seen = set()
        for text in module.CALLS:
            try:
                node = ast.parse(text, mode="eval").body
            except SyntaxError:
                continue
            if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
                continue
            function = ast.unparse(node.func)
            shape = (function, len(node.args), tuple(k.arg for k in node.keywords))
            if shape in seen or "lambda" in text:
                continue
            seen.add(shape)
            try:
                args = [eval(ast.unparse(a), scope) for a in node.args]
                kwargs = {str(k.arg): eval(ast.unparse(k.value), scope) for k in node.keywords}
                yield Call(text, eval(function, scope), args, kwargs)
            except Exception:  # such a call has its own test
                continue


# Rows that end the process, or wait, by design.
NOT_CALLED = {"Abort"}


def row_calls() -> Iterator[Call]:
    """The first good sample of each row."""
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None or name in NOT_CALLED:
            continue
        sample = next((s for s in row.sample_source(Generator()) if s.raises is None), None)
        if sample is not None:
            yield Call(name, row, list(sample.inputs), dict(sample.attrs))


def tape_calls() -> Iterator[Call]:
    """What the calls of ops do not reach: gradients, indexing, variables, functions, operators."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def gradient(target_seed, source):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.exp(x) * 2
        return tape.gradient(y, x if source is None else source, output_gradients=target_seed)

    def custom(result):
        @tf.custom_gradient
        def f(a, b):
            return a * b, lambda dy: result

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, x)
        return tape.gradient(y, x)

    def traced(value, flag):
        f = tf.function(lambda v, flag: tf.reduce_sum(v) if flag else v)
        return f(value, flag), f(x, flag), f(value, True)

    def assigned(value, delta):
        v = tf.Variable(value)
        return v.assign_add(delta), v[0].assign(v[1])

    ones = [[1.0, 1.0], [1.0, 1.0]]
    yield Call("gradient", gradient, [ones, None], {})
    yield Call("custom gradient", custom, [[ones, ones]], {})
    yield Call("x[key]", lambda key: x[key], [(0, 1)], {})
    yield Call("x[a:b:c]", lambda a, b, c: x[a:b:c, ..., a], [0, 2, 1], {})
    yield Call("x + y", lambda y: (x + y, y * x, x == y, x < y, y @ x), [ones], {})
    yield Call("function", traced, [ones, True], {})
    yield Call("Variable", assigned, [ones, ones], {})
    yield Call("py_function", lambda r: tf.py_function(lambda a: r, [x], tf.float32), [ones], {})
    yield Call("numpy_function", lambda r: tf.numpy_function(lambda a: r, [x], [tf.float32] * 2), [[1.0, 2.0]], {})
    yield Call("TensorShape", lambda s: tf.zeros(s), [[2, 3]], {})
    yield Call("as_dtype", lambda d: tf.cast(x, d), ["float16"], {})
    yield Call("from_dlpack", tf.experimental.dlpack.from_dlpack, [[1.0]], {})
    yield Call("data", lambda v: list(tf.data.Dataset.from_tensor_slices(v).batch(2)), [ones], {})
    yield Call("nest", lambda v: tf.nest.map_structure(tf.identity, v), [{"a": ones, "b": [1.0]}], {})
    for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int32, tf.int64, tf.uint8, tf.uint64,
                  tf.bool, tf.complex64, tf.complex128, tf.string, None):  # fmt: skip
        value: list = [[b"a", b"b"], [b"c", b"d"]] if dtype == tf.string else [[1, 2], [3, 4]]
        yield Call(f"constant {dtype and dtype.name}", tf.constant, [value], {"dtype": dtype})


# -- cases -------------------------------------------------------------------------------------------

Case = tuple[str, Callable[[], Any]]


def _cases(call: Call) -> Iterator[Case]:
    for place in call.places():
        for form, make in forms(call.at(place)):
            for action in ACTIONS:
                yield (
                    f"{call.name} | argument {place} | {form} | {action}",
                    lambda place=place, make=make, action=action: call.run(place, make, action),
                )


def quick_cases() -> Iterator[Case]:
    """All that runs code in the middle of a conversion; of the calls of ops, a share."""
    for name, function in vars(hostile_cases).items():
        if name.startswith("case_"):
            yield name, function
    for call in tape_calls():
        yield from _cases(call)
    n = 0
    for source in (written_calls, row_calls):
        for call in source():
            for case in _cases(call):
                n += 1
                if n % 997 == 0:
                    yield case


def failure(case: Case) -> str:
    """What is wrong with a call that neither returned nor raised what users are promised; else empty."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case[1]()
    except (SystemError, tf.errors.InternalError, AssertionError) as e:
        return f"{case[0]}: {type(e).__name__}: {e}"
    except Exception:  # what else it is, hostile objects decide
        pass
    return ""


def run(cases: Iterator[Case], log: Any) -> tuple[int, list[str]]:
    """The number of cases and their failures; the log has the name of the last one."""
    done, failures = 0, []
    for case in cases:
        log.seek(0)
        log.write(case[0][:1000].ljust(1000))
        log.flush()
        faulthandler.dump_traceback_later(120, exit=True)
        failures.append(failure(case))
        faulthandler.cancel_dump_traceback_later()
        done += 1
    return done, list(filter(None, failures))


def numbered(cases: Iterator[Case], start: int, step: int) -> Iterator[Case]:
    """Cases start, start + step, ... with their numbers in front of their names."""
    for i, (name, function) in enumerate(cases):
        if i >= start and (i - start) % step == 0:
            yield f"{i} {name}", function


def drawn_cases(minutes: float, seed: int) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    calls = [*tape_calls(), *written_calls(), *row_calls()]
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        call = calls[rng.integers(len(calls))]
        places = call.places()
        if not places:
            continue
        place = places[rng.integers(len(places))]
        several = list(forms(call.at(place)))
        if not several:
            continue
        form, make = several[rng.integers(len(several))]
        action = ACTIONS[rng.integers(len(ACTIONS))]
        yield (
            f"{call.name} | argument {place} | {form} | {action}",
            lambda call=call, place=place, make=make, action=action: call.run(place, make, action),
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--log", default=str(pathlib.Path(tempfile.gettempdir()) / "hostile_objects.log"))
    parser.add_argument("--start", type=int)
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    log_path = pathlib.Path(options.log).resolve()
    with tempfile.TemporaryDirectory() as folder, log_path.open("w") as log:
        before = os.getcwd()
        os.chdir(folder)
        tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
        tf.nn.conv2d(tf.ones([4, 30, 30, 8]), tf.ones([3, 3, 8, 8]), 1, "SAME")
        limit_memory(2048)
        if options.start is not None:
            cases = numbered(quick_cases(), options.start, options.step)
        else:
            print(f"seed {options.seed}, log {log_path}", flush=True)
            cases = drawn_cases(options.minutes, options.seed)
        done, failures = run(cases, log)
        os.chdir(before)
    print(f"{done} calls", *failures, sep="\n", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
