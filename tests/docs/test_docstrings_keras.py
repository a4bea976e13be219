"""What the docstrings of Keras, data, images, columns and strategies say of arguments, and their examples."""

import contextlib
import doctest
import enum
import functools
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

AREAS = re.compile(
    r"tapeflow\.(keras|data|feature_column|distribute|quantization)(\.|$)"
    r"|tapeflow\.ops\.(image|quantize)"
)

# Public functions and classes that describe no arguments, each with its reason. Others must.
WITHOUT: dict[str, str] = {}

# The classes whose methods of several arguments are described, too.
MAIN = [
    tf.data.Dataset,
    tf.distribute.Strategy,
    tf.keras.Model,
    tf.keras.Sequential,
    tf.keras.layers.Layer,
    tf.keras.losses.Loss,
    tf.keras.metrics.Metric,
    tf.keras.optimizers.LossScaleOptimizer,
    tf.keras.optimizers.Optimizer,
    tf.keras.preprocessing.image.ImageDataGenerator,
    tf.keras.preprocessing.text.Tokenizer,
    tf.keras.layers.Normalization,
    tf.keras.layers.StringLookup,
    tf.keras.layers.TextVectorization,
]
# Methods that pass arguments on to what subclasses define, or that programs do not call themselves.
PASSING_ON = {
    "add_variable", "call", "compute_mask", "compute_output_spec", "from_config", "from_recipe", "of",
    "rematerialized_call", "symbolic_call",
}  # fmt: skip


def _names():
    spec = importlib.util.spec_from_file_location("names", Path(__file__).parents[1] / "api" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def public():
    """(name, object) of the public functions and classes of the areas, each once."""
    names, everything, found = _names(), {}, {}
    for name in names.symbols("tf2"):
        with contextlib.suppress(AttributeError, ImportError):
            everything[name] = names.found("tf2", name)
    more = {"keras.callbacks": tf.keras.callbacks, "keras.utils": tf.keras.utils, "keras.random": tf.keras.random}
    for prefix, module in more.items():
        listed = getattr(module, "__all__", vars(module))
        everything |= {f"{prefix}.{name}": getattr(module, name) for name in listed if not name.startswith("_")}
    for name, value in everything.items():
        module = getattr(value, "__module__", None) or ""
        if callable(value) and AREAS.match(module) and not (inspect.isclass(value) and issubclass(value, enum.Enum)):
            found.setdefault(id(value), (name, value))
    return sorted(found.values(), key=lambda pair: pair[0])


def parameters(value):
    """The names of the arguments of a function, or of the constructor of a class."""
    if inspect.isclass(value) and "__init__" not in dir(value):
        return []
    function = value.__init__ if inspect.isclass(value) and value.__init__ is not object.__init__ else value
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def described(value):
    """The names of the entries of `Args:` in a docstring; None where it has no such part."""
    part = re.search(r"^Args:\n((?:  .*\n?)+)", inspect.cleandoc(value.__doc__ or ""), re.MULTILINE)
    if part is None:
        return None
    heads = [line.partition(":")[0] for line in re.sub(r"\n    +", " ", part[1]).splitlines()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def with_arguments():
    """The public names that take arguments worth a description: functions at least two, classes one."""
    for name, value in public():
        count = len([each for each in parameters(value) if each != "name"])
        if count >= (1 if inspect.isclass(value) else 2):
            yield name, value


def methods():
    """The public methods of the main classes that take two arguments or more."""
    seen = set()
    for cls in MAIN:
        for name in dir(cls):
            method = inspect.unwrap(getattr(getattr(cls, name), "__func__", getattr(cls, name)))
            if name.startswith("_") or name in PASSING_ON or not inspect.isfunction(method) or method in seen:
                continue
            seen.add(method)
            if AREAS.match(method.__module__) and len([n for n in parameters(method) if n != "name"]) > 1:
                yield f"{cls.__name__}.{name}", method


def test_all_arguments_are_described():
    missing = [name for name, value in with_arguments() if described(value) is None]
    assert missing == sorted(WITHOUT)


def test_the_arguments_of_methods_are_described():
    assert [name for name, method in methods() if described(method) is None] == []


def test_entries_are_the_arguments():
    wrong = {}
    for name, value in [*public(), *methods()]:
        entries = described(value)
        if entries is not None and sorted(entries) != sorted(parameters(value)):
            wrong[name] = sorted(set(entries) ^ set(parameters(value)))
    assert wrong == {}


def test_entries_say_more_than_the_name():
    empty = re.compile(r"^  \**(\w+): (?:the )?\1\.?$", re.MULTILINE)
    assert [name for name, value in public() if empty.search(inspect.cleandoc(value.__doc__ or ""))] == []


def examples():
    """The docstrings with examples, as doctests, each once."""
    finder = doctest.DocTestFinder(recurse=False)
    for name, value in [*public(), *methods()]:
        if ">>> " in (value.__doc__ or ""):
            globs = {"tf": tf, "np": np, "__name__": "__main__"}
            yield from (test for test in finder.find(value, name, globs=globs, module=False) if test.examples)


EXAMPLES = {test.name: test for test in examples()}


def test_the_most_used_have_examples():
    assert len(EXAMPLES) >= 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_what_they_say(name):
    printed = []
    doctest.DocTestRunner(verbose=False).run(EXAMPLES[name], out=printed.append, clear_globs=False)
    assert not printed, "".join(printed)
