"""What of TensorFlow's public API is here, by namespace; `absent.py` says why what is missing is."""

from __future__ import annotations

import ast
import inspect
import pathlib
import sys
import textwrap

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import absent
import names

# The namespaces of operations, which are to be whole.
OPERATIONS = (
    "", "bitwise", "debugging", "image", "io", "linalg", "lookup", "math", "math.special", "nn", "quantization",
    "queue", "ragged", "random", "sets", "signal", "sparse", "strings",
)  # fmt: skip


@pytest.mark.parametrize("version", ["tf1", "tf2"])
def test_operations_are_here_with_their_arguments(version):
    few = {
        space: f"{equal} of {symbols}"
        for space, (symbols, _, equal) in names.shares(version).items()
        if space in OPERATIONS and equal < 0.95 * symbols
    }
    assert not few


@pytest.mark.parametrize("version", ["tf1", "tf2", "keras3"])
def test_what_is_missing_has_a_reason(version):
    without = [name for name in names.missing(version) if absent.reason(name) is None]
    assert not without


def test_no_reason_outlives_what_it_was_for():
    versions = ("tf1", "tf2", "keras3")
    here = {name for version in versions for name in names.symbols(version)}
    here -= {name for version in versions for name in names.missing(version)}
    assert not [name for name in absent.NAMES if name in here]


@pytest.mark.parametrize("version", ["tf1", "tf2"])
def test_no_name_is_a_stub(version):
    """A function whose whole body raises, passes or is left open would be one."""
    absentees = set(names.missing(version))
    stubs = []
    for name in names.symbols(version):
        if name in absentees or name in absent.REFUSED:
            continue
        value = inspect.unwrap(names.found(version, name))
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            continue
        if isinstance(tree, ast.FunctionDef) and empty(tree.body):
            stubs.append(name)
    assert not stubs


def empty(body: list[ast.stmt]) -> bool:
    """Whether statements do nothing but raise, after a docstring."""
    rest = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return not rest or all(isinstance(s, (ast.Raise, ast.Pass)) for s in rest)


def test_the_table_of_shares():
    text = names.table()
    print(text)
    assert "tf.compat.v1.nn " in text
