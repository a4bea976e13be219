"""Docstrings of the public functions: they describe every argument, and their examples print what they say."""

from __future__ import annotations

import collections
import contextlib
import doctest
import functools
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf

ROOT = Path(__file__).parents[2]
# Areas whose functions are not described yet, by the first part of their names.
NOT_YET = (
    "data",
    "feature_column",
    "image",
    "initializers",
    "keras",
    "losses",
    "optimizers",
    "quantization",
)
# How many functions of an area of two and more parameters may be without a description: none.
UNDESCRIBED: dict[str, int] = {}

SECTION = re.compile(r"^Args:\n((?:(?: +.*)?\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^  (\*{0,2}\w+(?:, \*{0,2}\w+)*):(?: |$)", re.MULTILINE)


@functools.cache
def names():
    spec = importlib.util.spec_from_file_location("names", ROOT / "tests" / "api" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def functions():
    """The functions of the API of 2.x and of tf.experimental.numpy, each once, by name."""
    listed = list(names().symbols("tf2"))
    arrays = tf.experimental.numpy
    listed += [f"experimental.numpy.{name}" for name in dir(arrays) if name[0] != "_"]
    listed += [f"experimental.numpy.random.{name}" for name in dir(arrays.random) if name[0] != "_"]
    found, seen = {}, set()
    for name in listed:
        try:
            value = names().found("tf2", name)
        except (AttributeError, ImportError):
            continue
        if (
            name.startswith("raw_ops")
            or inspect.isclass(value)
            or not callable(value)
            or id(value) in seen
        ):
            continue
        if getattr(value, "__module__", "").startswith("tapeflow"):
            seen.add(id(value))
            found[name] = value
    return found


def area(name):
    return name.partition(".")[0] if "." in name else "tf"


def methods_without_a_docstring():
    """The public methods of public classes, inherited ones too, of which help() says nothing."""
    found = set()
    for name in names().symbols("tf2"):
        try:
            value = names().found("tf2", name)
        except (AttributeError, ImportError):
            continue
        if inspect.isclass(value):
            methods = (getattr(value, part, None) for part in dir(value) if part[0] != "_")
            found |= {
                f"{method.__module__}.{method.__qualname__}"
                for method in methods
                if callable(method) and not inspect.isclass(method) and inspect.getdoc(method) is None
            }
    return {name for name in found if name.startswith("tapeflow.")}


@functools.cache
def described():
    """The functions of the areas that are looked at, with their docstrings."""
    return {
        name: (value, inspect.getdoc(value) or "")
        for name, value in functions().items()
        if not name.startswith(tuple(f"{prefix}." for prefix in NOT_YET))
    }


def parameters(value):
    """The parameters as a docstring names them; None where Python cannot tell."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        stars.get(p.kind, "") + p.name for p in signature.parameters.values() if p.name != "self"
    ]


def entries(doc):
    """The names that an Args: part describes; None where there is none."""
    part = SECTION.search(doc + "\n")
    return (
        None
        if part is None
        else [name for entry in ENTRY.findall(part[1]) for name in entry.split(", ")]
    )


def test_finds_the_functions():
    assert len(described()) > 500


def test_methods_have_docstrings():
    assert methods_without_a_docstring() == set()
    assert tf.keras.layers.Dense.get_config.__doc__ == tf.keras.layers.Layer.get_config.__doc__


def test_functions_describe_their_arguments():
    without = collections.defaultdict(list)
    for name, (value, doc) in described().items():
        given = parameters(value)
        if (
            given is not None
            and len([p for p in given if p != "name"]) > 1
            and entries(doc) is None
        ):
            without[area(name)].append(name)
    more = {
        place: found for place, found in without.items() if len(found) > UNDESCRIBED.get(place, 0)
    }
    assert not more, more
    fewer = {place: n for place, n in UNDESCRIBED.items() if len(without[place]) < n}
    assert not fewer, f"lower the numbers in UNDESCRIBED: {fewer}"


def test_every_parameter_is_described_and_no_other():
    wrong = {}
    for name, (value, doc) in described().items():
        given, found = parameters(value), entries(doc)
        if given is not None and found is not None and sorted(given) != sorted(found):
            wrong[name] = (sorted(set(given) - set(found)), sorted(set(found) - set(given)))
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("doc", "found"),
    [
        (
            "Do.\n\nArgs:\n  x, y: two.\n    More: of it.\n  *rest: others.\n\nReturns:\n  z: not it.",
            ["x", "y", "*rest"],
        ),
        ("Do.\n\nReturns:\n  x: not it.", None),
    ],
)
def test_reads_the_entries(doc, found):
    assert entries(doc) == found


def examples():
    """The docstrings with examples: of functions, and of the methods of public classes."""
    found = {name: doc for name, (_, doc) in described().items()}
    for name in names().symbols("tf2"):
        with contextlib.suppress(AttributeError, ImportError):
            value = names().found("tf2", name)
            if (
                inspect.isclass(value)
                and area(name) not in NOT_YET
                and value.__module__.startswith("tapeflow")
            ):
                found[name] = inspect.getdoc(value) or ""
                methods = {
                    key: inspect.getdoc(member) or ""
                    for key, member in vars(value).items()
                    if key[0] != "_"
                }
                found.update({f"{name}.{key}": doc for key, doc in methods.items()})
    return {name: doc for name, doc in sorted(found.items()) if ">>> " in doc}


EXAMPLES = examples()


def failures(doc, name):
    """What the examples of a docstring print instead of what it says."""
    case = doctest.DocTestParser().get_doctest(doc, {"tf": tf, "np": np}, name, None, 0)
    out: list[str] = []
    doctest.DocTestRunner(verbose=False).run(case, out=out.append)
    return "".join(out)


def test_there_are_examples():
    assert len(EXAMPLES) > 250


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_what_they_say(name):
    wrong = failures(EXAMPLES[name], name)
    assert not wrong, wrong


@pytest.mark.slow
def test_each_example_can_be_the_first_thing_that_a_program_does():
    script = Path(__file__).with_name("first_calls.py")
    done = subprocess.run([sys.executable, script], input=json.dumps(EXAMPLES), text=True, capture_output=True)
    assert not done.returncode, done.stderr
    wrong = json.loads(done.stdout.rpartition("WRONG")[2])
    assert not wrong, wrong


def test_a_wrong_example_is_seen():
    assert "Expected" in failures("Add.\n\n>>> tf.add(1, 1).numpy().item()\n3\n", "add")
