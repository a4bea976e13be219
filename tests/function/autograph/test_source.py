"""Where the source of functions comes from, and what happens without it."""

import linecache
import logging
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.function.autograph import tf_convert


def listed(x):
    return np.asarray(x).tolist()


def both(f):
    g = tf.function(f)
    return [listed(g(tf.constant(v))) for v in (3, -3)]


def compiled(text, name, known=True):
    """The function `f` that `text` defines, as a notebook or a shell would make it."""
    text = textwrap.dedent(text)
    if known:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"__name__": "__main__", "tf": tf}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


BRANCH = """
    def f(x):
        if x > 0:
            return 1
        return 2
"""


@pytest.mark.parametrize(
    "name", ["<ipython-input-3-abc>", "<python-input-5>", "/tmp/ipykernel_7/12.py"]
)
def test_notebooks_and_shells_with_lines(name):
    assert both(compiled(BRANCH, name)) == [1, 2]


def test_without_source_it_runs_as_it_is(caplog):
    f = compiled(BRANCH, "<stdin>", known=False)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert tf_convert(f) is f
        assert tf_convert(f) is f
    assert [r.getMessage().partition("\n")[0] for r in caplog.records] == [
        f"AutoGraph could not transform {f!r} and will run it as-is."
    ]
    assert "Unable to locate the source code" in caplog.text
    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        tf.function(f)(tf.constant(1))


def test_code_from_exec_says_nothing(caplog):
    f = compiled(BRANCH, "<string>", known=False)
    assert tf_convert(f) is f
    assert caplog.records == []


def test_source_that_is_another_one(caplog):
    f = compiled(BRANCH, "<changed>")
    linecache.cache["<changed>"] = (0, None, ["\n", "x = 1\n"], "<changed>")
    assert tf_convert(f) is f
    assert "is not the one it was compiled from" in caplog.text


def test_unsupported_syntax_is_told(caplog):
    text = """
        def f(x):
            for _ in range(3):
                try:
                    pass
                finally:
                    break
            return x
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # Python's own, from 3.14 on
        f = compiled(text, "<ipython-input-9-finally>")
        assert tf_convert(f) is f
    assert "in a finally block are not supported" in caplog.text


def test_lambdas():
    pair = (lambda x: 1 if x > 0 else 2), (lambda x: 3 if x > 0 else 4)
    assert [both(f) for f in pair] == [[1, 2], [3, 4]]
    # fmt: off
    lines = [(lambda x:
              5 if x > 0
              else 6)]
    # fmt: on
    assert both(lines[0]) == [5, 6]
    same = [lambda x: 1 if x > 0 else 2 for _ in range(2)]
    assert [both(f) for f in same] == [[1, 2], [1, 2]]
    nested = lambda x: (lambda y: 7 if y > 0 else 8)(x)  # noqa: E731
    assert both(nested) == [7, 8]
    made = (lambda x: lambda x: 9 if x > 0 else 10)(0)
    assert both(made) == [9, 10]


def test_strings_keep_their_indentation():
    def f(x):
        text = """
 one
    two
"""
        if x > 0:
            return text
        return text

    assert tf.autograph.to_graph(f)(1) == "\n one\n    two\n"


def test_decorators_of_several_lines():
    def decorator(*_):
        return lambda f: f

    @decorator(
        1,
        2,
    )
    @tf.autograph.experimental.do_not_convert
    def g(x):
        return x

    @decorator(
        1,
        2,
    )
    def f(x):
        if g(x) is x and x > 0:
            return 1
        return 2

    assert both(f) == [1, 2]


def test_annotations_and_future_imports():
    f = compiled(
        """
        from __future__ import annotations
        def f(x: Missing, *args: Also[Missing]) -> Nothing:
            y: Missing = 1
            z: Missing
            if x > 0:
                y: Missing = 2
            return y
        """,
        "<annotated>",
    )
    assert both(f) == [2, 1]


def test_conversion_is_done_once_for_each_code_object():
    def make(k):
        def f(x):
            if x > 0:
                return k
            return -k

        return f

    one, two = make(1), make(2)
    assert tf_convert(one).__code__ is tf_convert(two).__code__
    assert tf_convert(one) is tf_convert(one)
    assert both(one) + both(two) == [1, -1, 2, -2]


def test_metadata_is_kept():
    def f(x, y: int = 5, *, z=6):
        """The documentation."""
        if x > 0:
            return y
        return z

    f.marked = True
    g = tf_convert(f)
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        assert getattr(g, name) == getattr(f, name)
    assert (g.__defaults__, g.__kwdefaults__, g.marked) == ((5,), {"z": 6}, True)
    assert g.__code__.co_filename == __file__
    assert g.__code__.co_firstlineno == f.__code__.co_firstlineno


def test_import_does_not_load_autograph():
    code = (
        "import sys, tapeflow; assert not [m for m in sys.modules if 'autograph' in m], sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ), timeout=60)
