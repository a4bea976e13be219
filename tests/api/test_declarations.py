"""What is made from the declarations of public names agrees with them: the table of names and the stub files."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys

import pytest

import tapeflow as tf
from tapeflow.api import generate, namespaces
from tapeflow.api.names import NAMES

MADE = generate.files()


@pytest.mark.parametrize("path", MADE, ids=lambda path: str(path.relative_to(generate.ROOT)))
def test_made_files_are_current(path):
    assert path.read_text() == MADE[path], "run `make api-names`"


def test_every_name_is_there():
    for space in NAMES:
        module = importlib.import_module(f"tapeflow.{space}".rstrip("."))
        for name, (source, attribute) in namespaces.places(space).items():
            assert getattr(module, name) is getattr(importlib.import_module(source), attribute)
            assert name in dir(module)


def trees(**texts):
    return {name.replace("_", "."): ast.parse(text) for name, text in texts.items()}


SPACES = {"math": "a = b = c = _namespace(__name__)", "compat_v1_math": "a = _namespace(__name__)"}


def test_a_name_is_in_both_versions_or_in_one():
    found = generate.declared(
        trees(
            **SPACES,
            ops="@api('math.both', v1='math.old')\n@public\ndef f(): pass\n"
            "@api(v2=('math.new', 'math.newer'))\nclass C: pass\nx = 1\napi_value('x', 'math.x')",
        )
    )
    assert found == sorted(
        generate.Declared(space, name, "ops", attribute)
        for space, name, attribute in [
            ("math", "both", "f"), ("compat.v1.math", "both", "f"), ("compat.v1.math", "old", "f"),
            ("math", "new", "C"), ("math", "newer", "C"), ("math", "x", "x"), ("compat.v1.math", "x", "x"),
        ]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@api('math.a')\ndef f(): pass\n@api('math.a')\ndef g(): pass", "tf.math.a is declared by"),
        ("@api('maths.a')\ndef f(): pass", "tapeflow.maths is no namespace"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        generate.declared(trees(**SPACES, ops=text))


def test_namespaces_can_be_changed(monkeypatch):
    monkeypatch.setattr(tf.math, "cumsum", len)
    assert tf.math.cumsum is len
    monkeypatch.undo()
    assert tf.math.cumsum is tf.cumsum


def test_public_functions_are_pickled_by_where_they_are_defined():
    assert pickle.loads(pickle.dumps(tf.math.cumsum)) is tf.cumsum


def test_a_star_import_has_every_name():
    code = "from tapeflow.math import *; print(cumsum([1, 2]), special, 'namespace' in globals())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tf.Tensor([1 3]")
    assert done.stdout.endswith("False\n")
